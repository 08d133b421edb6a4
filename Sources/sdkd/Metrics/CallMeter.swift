import CoreMetrics
import JSONRPC
import OpenMetrics
import SDKInstances
import SDKProtocol

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

  /// Returns the reason if it is one of the contract's, otherwise `other`.
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
