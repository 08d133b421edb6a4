import CoreMetrics
import DelegateBridge
import OpenMetrics
import SDKInstances
import SDKProtocol

/// A counter of runs of token providers.
final class ProviderMeter: Sendable {
  private let runs: LazyCounters
  private let timer: Timer

  init(registry: MetricsRegistry) {
    runs = LazyCounters(.providerRuns, in: registry) { value in
      let parts = value.split(separator: " ", maxSplits: 1).map(String.init)
      return [("kind", parts.first ?? ""), ("exit", parts.last ?? "")]
    }
    timer = Timer(label: MetricFamily.providerDuration.name, factory: registry)
  }

  func count(_ run: EndedRun) {
    runs.increment("\(run.kind) \(Self.ending(exit: run.exit, failure: run.failure))")
    timer.recordNanoseconds(run.duration.nanoseconds)
  }

  /// Returns the end of a run as one word, for the label.
  static func ending(exit: String, failure: Reason?) -> String {
    switch (exit, failure) {
    case ("cancelled", _), ("timeout", _), ("notAllowed", _), ("notStarted", _): exit
    case (_, nil): "answered"
    case (_, .providerDenied): "denied"
    case (_, .noProvider): "deferred"
    case (_, .providerOutputInvalid), ("output", _): "invalidOutput"
    case ("75", _): "later"
    default: exit.hasPrefix("signal") ? "signal" : "failed"
    }
  }
}

/// A counter of renewals of credentials.
final class RenewalMeter: Sendable {
  private let renewals: LazyCounters

  init(registry: MetricsRegistry) {
    renewals = LazyCounters(.refreshes, in: registry) { value in
      let parts = value.split(separator: " ", maxSplits: 1).map(String.init)
      return [("trigger", parts.first ?? ""), ("outcome", parts.last ?? "")]
    }
  }

  func count(_ renewal: EndedRenewal) {
    let outcome =
      switch renewal.outcome {
      case .renewed: "ok"
      case .failed(let reason): reason.rawValue
      case .superseded: "superseded"
      }
    renewals.increment("\(renewal.trigger.rawValue) \(outcome)")
  }
}
