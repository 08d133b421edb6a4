import OpenMetrics

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
