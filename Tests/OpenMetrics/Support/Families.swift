import OpenMetrics

extension MetricFamily {
  static let calls = MetricFamily("test_calls", .counter, labels: ["method", "outcome"], "Calls.")
  static let level = MetricFamily("test_level", .gauge, "How high it stands.")
  static let duration = MetricFamily(
    "test_duration_seconds", .histogram, unit: "seconds", labels: ["method"], bounds: [0.001, 0.01, 0.1],
    hidesUnused: true, "How long it took.")
  static let size = MetricFamily("test_size", .histogram, bounds: [1, 2, 4], "How many at once.")
  static let odd = MetricFamily(
    "test_odd", .gauge, labels: ["text"], #"Help with a \ backslash, a "quote" and\#na line."#)
  static let build = MetricFamily("test_build", .info, labels: ["version"], "What this is.")
}

extension MetricsRegistry {
  convenience init(testing maximumSeries: Int = 100) {
    self.init([.calls, .level, .duration, .size, .odd, .build], maximumSeries: maximumSeries)
  }
}
