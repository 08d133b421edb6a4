import CoreMetrics
import JSONRPC
import OpenMetrics
import SDKInstances
import SDKProtocol
import Synchronization

/// A counter of calls and their durations.
struct CallMeter: CallObserver {
  let registry: MetricsRegistry

  func observation(of method: (any SDKMethod.Type)?) -> CallObservation? {
    guard let method else { return unknownMethods }
    let name = method.name
    let ok = Counter(label: MetricFamily.calls.name, dimensions: labels(name, "ok"), factory: registry)
    let failures = LazyCounters(.calls, in: registry) { labels(name, $0) }
    let timer = Timer(label: MetricFamily.callDuration.name, dimensions: [("method", name)], factory: registry)
    return { call in
      if let failure = call.failure {
        failures.increment(Self.outcome(failure))
        // A call refused before it was accepted says nothing about how long the method takes.
        if call.duration == .zero { return }
      } else {
        ok.increment()
      }
      timer.recordNanoseconds(call.duration.nanoseconds)
    }
  }

  /// The observer of calls of unknown methods, whose names may be anything, and of refused connections.
  private var unknownMethods: CallObservation {
    let unknown = LazyCounters(.calls, in: registry) { labels("", $0) }
    let refused = LazyCounters(.connectionsRefused, in: registry) { [("reason", $0)] }
    return { call in
      guard let failure = call.failure else { return }
      if failure.reason == "methodNotFound" {
        unknown.increment(Self.outcome(failure))
      } else {
        refused.increment(Self.outcome(failure))
      }
    }
  }

  private func labels(_ method: String, _ outcome: String) -> [(String, String)] {
    [("method", method), ("outcome", outcome)]
  }

  /// Returns the error's reason if the protocol declares it, otherwise `other`.
  private static func outcome(_ error: RPCError) -> String {
    outcomes.contains(error.reason) ? error.reason : "other"
  }

  private static let outcomes = Set(
    Reason.allCases.map(\.rawValue)
      + [
        "parseError", "invalidRequest", "frameTooLarge", "methodNotFound", "invalidParams", "internalError",
        "cancelled",
      ])
}

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

extension Duration {
  /// The duration in whole nanoseconds, as timers take it; the largest `Int64` if it is too long, past 290 years.
  var nanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
}
