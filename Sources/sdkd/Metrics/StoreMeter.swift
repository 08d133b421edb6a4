import CoreMetrics
import OpenMetrics
import SDKProtocol
import StateStore

/// A counter of the store's transactions and the events in them.
final class StoreMeter: Sendable {
  private let ok: Counter
  private let partial: Counter
  private let failed: Counter
  private let changesFailed: Counter
  private let timer: Timer
  private let size: Recorder
  private let events: [EventType: Counter]

  init(registry: MetricsRegistry) {
    func outcome(_ name: String) -> Counter {
      Counter(label: MetricFamily.transactions.name, dimensions: [("outcome", name)], factory: registry)
    }
    ok = outcome("ok")
    partial = outcome("partial")
    failed = outcome("failed")
    changesFailed = Counter(label: MetricFamily.changesFailed.name, factory: registry)
    timer = Timer(label: MetricFamily.transactionDuration.name, factory: registry)
    size = Recorder(
      label: MetricFamily.transactionSize.name, dimensions: [], aggregate: true, factory: registry)
    events = Dictionary(
      uniqueKeysWithValues: EventType.allCases.map { type in
        (type, Counter(label: MetricFamily.events.name, dimensions: [("type", type.rawValue)], factory: registry))
      })
  }

  func count(_ transaction: EndedTransaction) {
    (transaction.failed == 0 ? ok : transaction.failed < transaction.changes ? partial : failed).increment()
    changesFailed.increment(by: transaction.failed)
    timer.recordNanoseconds(transaction.duration.nanoseconds)
    size.record(transaction.changes)
    for type in transaction.events { events[type]?.increment() }
  }
}
