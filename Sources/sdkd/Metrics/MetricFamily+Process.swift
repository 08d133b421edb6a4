import OpenMetrics

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

  static let health = MetricFamily(
    "sdkd_health_status", .gauge, labels: ["check"], "Checks of daemon.health: 0 is ok, 1 degraded, 2 failing.")
  static let backupTime = MetricFamily(
    "sdkd_backup_timestamp_seconds", .gauge, unit: "seconds",
    "When the newest backup of the schedule was made, in seconds since 1970.")

  static let logDropped = MetricFamily(
    "sdkd_log_records_dropped", .counter, "Log records that were lost: too many at once, or not written.")
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
    transactions, transactionDuration, transactionSize, changesFailed, changesWaiting, health, backupTime, logDropped,
    metricsRejected, build, cpu, resident, openFiles, mostFiles, startTime,
  ]

  /// All metrics of the daemon.
  static let all = aboutCalls + aboutInstances + aboutTheProcess
}
