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

  static let aboutCalls = [calls, callDuration, callsInFlight, connections, connectionsOpened, connectionsRefused]

  /// The bounds reach from 10 µs, a cached token, to half a minute, a vendor that doesn't respond.
  private static let callBounds = [
    0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
    2.5, 5, 10, 30,
  ]
}
