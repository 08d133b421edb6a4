import OpenMetrics

/// The metrics of calls and connections.
extension MetricFamily {
  static let calls = MetricFamily(
    "sdkd_calls", .counter, labels: ["method", "outcome"],
    "Calls that have ended, by method and outcome: ok, or the reason of the error.")
  static let callDuration = MetricFamily(
    "sdkd_call_duration_seconds", .histogram, unit: "seconds", labels: ["method"], bounds: callBounds,
    hidesUnused: true, "Time from the reading of a call to its response, including the wait before it runs.")
  static let callsInFlight = MetricFamily(
    "sdkd_calls_in_flight", .gauge, "Calls that run or wait to run now.")
  static let connections = MetricFamily("sdkd_connections", .gauge, labels: ["role"], "Connections that are open now.")
  static let connectionsOpened = MetricFamily(
    "sdkd_connections_opened", .counter, labels: ["role"], "Connections that were admitted.")
  static let connectionsRefused = MetricFamily(
    "sdkd_connections_refused", .counter, labels: ["reason"], "Connections that were refused, by reason.")
  static let connectionsHandedOver = MetricFamily(
    "sdkd_connections_handed_over", .counter, labels: ["outcome"],
    "Connections that the former daemon left to this one: kept, or closed because they can't be continued.")

  static let aboutCalls = [
    calls, callDuration, callsInFlight, connections, connectionsOpened, connectionsRefused, connectionsHandedOver,
  ]

  /// The upper bounds, in seconds, of the buckets for call durations: from 10 µs, a cached token, to 30 s, a vendor
  /// that doesn't respond.
  private static let callBounds = [
    0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
    2.5, 5, 10, 30,
  ]
}

/// The metrics of instances, their providers, their vendors and their events.
extension MetricFamily {
  static let instances = MetricFamily(
    "sdkd_instances", .gauge, labels: ["kind", "state"], "Instances, by kind and state.")
  static let quarantined = MetricFamily(
    "sdkd_instances_quarantined", .gauge, "Instances whose stored rows do not open.")

  static let refreshes = MetricFamily(
    "sdkd_refreshes", .counter, labels: ["trigger", "outcome"],
    "Renewals of credentials that have ended, by what began them and by outcome: ok, superseded, or a reason.")

  static let failingEnd = MetricFamily(
    "sdkd_failing_credential_expiry_timestamp_seconds", .gauge, unit: "seconds",
    "When the first of the credentials ends whose last renewal failed, in seconds since 1970.")

  static let providerRuns = MetricFamily(
    "sdkd_provider_runs", .counter, labels: ["kind", "exit"],
    "Runs of token providers that have ended, by the instance's kind and by how they ended.")
  static let providerDuration = MetricFamily(
    "sdkd_provider_run_duration_seconds", .histogram, unit: "seconds", labels: [],
    bounds: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    "How long runs of token providers took, the wait for a slot not included.")
  static let providers = MetricFamily(
    "sdkd_providers", .gauge, labels: ["state"],
    "Token providers now: running in a slot, long ones that gave their slot back, and waiting for a slot.")
  static let breakers = MetricFamily(
    "sdkd_provider_breakers", .gauge, labels: ["state"],
    "Breakers of token providers that have run, by state: closed, open, or halfOpen for one that tries again.")
  static let delegates = MetricFamily(
    "sdkd_delegates_attached", .gauge, "Attachments of delegates to instances.")

  static let vendorRequests = MetricFamily(
    "sdkd_vendor_requests", .counter, labels: ["status"],
    "HTTP requests to vendors, by class of status, or by why there was no answer: network, timeout, tooLarge.")
  static let vendorDuration = MetricFamily(
    "sdkd_vendor_request_duration_seconds", .histogram, unit: "seconds",
    bounds: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    "How long HTTP requests to vendors took.")

  static let subscriptions = MetricFamily("sdkd_subscriptions", .gauge, "Subscriptions to events.")
  static let pausedSubscriptions = MetricFamily(
    "sdkd_subscriptions_paused", .gauge, "Subscriptions that were notified of a gap and have not resumed yet.")
  static let eventLag = MetricFamily(
    "sdkd_event_lag", .gauge, "Events still to be sent to the slowest subscription, paused ones excluded.")
  static let eventGaps = MetricFamily("sdkd_event_gaps", .counter, "Gaps that subscribers were notified of.")
  static let events = MetricFamily(
    "sdkd_events", .counter, labels: ["type"], "Events that were recorded, by type.")

  static let aboutInstances = [
    instances, quarantined, refreshes, failingEnd, providerRuns, providerDuration, providers, breakers, delegates,
    vendorRequests, vendorDuration, subscriptions, pausedSubscriptions, eventLag, eventGaps, events,
  ]
}

/// The metrics of the store, the log and the process itself.
extension MetricFamily {
  static let transactions = MetricFamily(
    "sdkd_store_transactions", .counter, labels: ["outcome"],
    "Transactions of the store: ok, failed when none of their changes is on disk, partial when some are not.")
  static let transactionDuration = MetricFamily(
    "sdkd_store_transaction_duration_seconds", .histogram, unit: "seconds",
    bounds: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    "How long transactions took, the disk included.")
  static let transactionSize = MetricFamily(
    "sdkd_store_transaction_changes", .histogram, bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    "How many changes shared a transaction.")
  static let changesFailed = MetricFamily(
    "sdkd_store_changes_failed", .counter, "Changes that were not stored.")
  static let changesWaiting = MetricFamily(
    "sdkd_store_changes_waiting", .gauge, "Changes that wait for the next transaction.")

  static let limit = MetricFamily(
    "sdkd_limit", .gauge, labels: ["name"], "Limits of sdkd.toml in force, in counts, bytes or seconds.")

  static let health = MetricFamily(
    "sdkd_health_status", .gauge, labels: ["check"], "Checks of daemon.health: 0 is ok, 1 degraded, 2 failing.")
  static let backupTime = MetricFamily(
    "sdkd_backup_timestamp_seconds", .gauge, unit: "seconds",
    "When the newest backup of the schedule was made, in seconds since 1970.")

  static let logDropped = MetricFamily(
    "sdkd_log_records_dropped", .counter, "Log records that were lost: too many at once, or not written.")
  static let auditLost = MetricFamily(
    "sdkd_audit_records_lost", .counter, "Audit records among the lost log records.")
  static let metricsRejected = MetricFamily(
    "sdkd_metrics_rejected", .counter, "Numbers that were not kept because their name or labels are not declared.")

  static let build = MetricFamily("sdkd_build", .info, labels: ["version", "api"], "Which sdkd this is.")
  // The standard names of exporters, so that common dashboards work.
  static let cpu = MetricFamily(
    "process_cpu_seconds", .counter, unit: "seconds", "Processor time that the process has used.")
  static let resident = MetricFamily(
    "process_resident_memory_bytes", .gauge, unit: "bytes", "Memory of the process that is not swapped out.")
  static let openFiles = MetricFamily("process_open_fds", .gauge, "Descriptors that are open.")
  static let mostFiles = MetricFamily("process_max_fds", .gauge, "Descriptors that may be open.")
  static let startTime = MetricFamily(
    "process_start_time_seconds", .gauge, unit: "seconds", "When the process started, in seconds since 1970.")

  static let aboutTheProcess = [
    transactions, transactionDuration, transactionSize, changesFailed, changesWaiting, limit, health, backupTime,
    logDropped,
    auditLost, metricsRejected, build, cpu, resident, openFiles, mostFiles, startTime,
  ]

  /// All metrics of the daemon.
  static let all = aboutCalls + aboutInstances + aboutTheProcess
}

/// The table of all metrics for the documentation.
enum MetricsTable {
  static var markdown: String {
    let rows = MetricFamily.all.sorted { $0.name < $1.name }.map { family in
      let labels = family.labels.isEmpty ? "–" : family.labels.map { "`\($0)`" }.joined(separator: ", ")
      return "| `\(family.queryName)` | \(family.kind.rawValue) | \(labels) | \(family.help) |\n"
    }
    return "| name | type | labels | what it tells |\n|---|---|---|---|\n" + rows.joined()
  }
}
