import OpenMetrics
import SDKInstances
import SDKProtocol

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
