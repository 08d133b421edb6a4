import CoreMetrics
import OpenMetrics
import Synchronization

/// The counters of a family that differ in one label, created on first use: for rare events.
final class LazyCounters: Sendable {
  private let counters = Mutex<[String: Counter]>([:])
  private let family: MetricFamily
  private let labels: @Sendable (String) -> [(String, String)]
  private let registry: MetricsRegistry

  /// Creates counters whose labels are derived from one value.
  init(
    _ family: MetricFamily, in registry: MetricsRegistry, labels: @escaping @Sendable (String) -> [(String, String)]
  ) {
    self.family = family
    self.registry = registry
    self.labels = labels
  }

  func increment(_ value: String) {
    let counter = counters.withLock { counters in
      if let counter = counters[value] { return counter }
      let counter = Counter(label: family.name, dimensions: labels(value), factory: registry)
      counters[value] = counter
      return counter
    }
    counter.increment()
  }
}
