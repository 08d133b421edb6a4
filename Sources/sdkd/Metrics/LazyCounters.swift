import CoreMetrics
import OpenMetrics
import Synchronization

/// The counters of a family that differ in one label, made when they are first needed: for what seldom happens.
final class LazyCounters: Sendable {
  private let counters = Mutex<[String: Counter]>([:])
  private let family: MetricFamily
  private let labels: @Sendable (String) -> [(String, String)]
  private let registry: MetricsRegistry

  /// Counters whose labels are made of one value.
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
