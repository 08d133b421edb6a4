import JSONRPC
import OpenMetrics

/// The content of `sdkctl top`: the difference of two readings of the metrics.
struct TopFrame {
  /// The figures of one method.
  struct Method {
    var name: String
    var callsPerSecond: Double
    var errorsPerSecond: Double
    var total: Double
    /// The median latency in seconds of the calls since the earlier reading; `nil` without calls.
    var p50: Double?
    var p99: Double?
  }

  private let now: MetricsReading
  private let earlier: MetricsReading
  private let seconds: Double

  /// Creates a frame.
  ///
  /// - Parameter seconds: the time between the two readings.
  init(_ now: MetricsReading, since earlier: MetricsReading, seconds: Double) {
    self.now = now
    // The counters of a restarted daemon begin at zero.
    let began = "process_start_time_seconds"
    self.earlier = abs(now.sum(began) - earlier.sum(began)) < 1 ? earlier : MetricsReading()
    self.seconds = max(seconds, 0.001)
  }

  /// The methods that were called at least once, the busiest first.
  var methods: [Method] {
    let calls = "sdkd_calls_total"
    return now.sums(calls, by: "method").map { name, total in
      let labels = ["method": name]
      let latency = HistogramReading("sdkd_call_duration_seconds", labels, in: now)
        .since(HistogramReading("sdkd_call_duration_seconds", labels, in: earlier))
      let rate = rate(calls, labels)
      return Method(
        name: name.isEmpty ? "(unknown)" : name, callsPerSecond: rate,
        errorsPerSecond: max(0, rate - self.rate(calls, ["method": name, "outcome": "ok"])), total: total,
        p50: latency.quantile(0.5), p99: latency.quantile(0.99))
    }
    .filter { $0.total > 0 }
    .sorted { ($1.callsPerSecond, $1.total, $0.name) < ($0.callsPerSecond, $0.total, $1.name) }
  }

  /// Returns the growth of a counter per second, summed over all series with these labels.
  func rate(_ name: String, _ labels: [String: String] = [:]) -> Double {
    max(0, now.sum(name, labels) - earlier.sum(name, labels)) / seconds
  }

  /// Returns the growth of a counter per second for each value of a label, without those that did not grow.
  func rates(_ name: String, by label: String) -> [(name: String, value: Double)] {
    let before = earlier.sums(name, by: label)
    return now.sums(name, by: label).map { ($0.key, max(0, $0.value - before[$0.key, default: 0]) / seconds) }
      .filter { $0.value > 0 }.sorted { ($1.value, $0.name) < ($0.value, $1.name) }
  }

  /// Returns a gauge for each value of a label.
  func levels(_ name: String, by label: String) -> [(name: String, value: Double)] {
    now.sums(name, by: label).map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
  }

  /// Returns a gauge, summed over all series with these labels.
  func level(_ name: String, _ labels: [String: String] = [:]) -> Double { now.sum(name, labels) }

  /// Returns the quantile `share` of the observations since the earlier reading; `nil` without observations.
  func quantile(_ share: Double, of name: String) -> Double? {
    HistogramReading(name, in: now).since(HistogramReading(name, in: earlier)).quantile(share)
  }

  /// Returns the seconds from the daemon's start to `time`; `nil` if the start is unknown.
  func uptime(at time: Double) -> Double? {
    let started = now.sum("process_start_time_seconds")
    return started > 0 ? max(0, time - started) : nil
  }

  /// The version of the daemon.
  var version: String { now["sdkd_build_info"].first?.labels["version"] ?? "?" }
}
