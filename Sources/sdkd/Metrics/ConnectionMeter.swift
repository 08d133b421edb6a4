import CoreMetrics
import OpenMetrics
import Synchronization

/// A counter of connections.
final class ConnectionMeter: Sendable {
  private let opened: (admin: Counter, other: Counter)
  private let handedOver: (kept: Counter, closed: Counter)
  private let openAdmins = Atomic(0)
  private let openOthers = Atomic(0)

  init(registry: MetricsRegistry) {
    func counter(_ role: String) -> Counter {
      Counter(label: MetricFamily.connectionsOpened.name, dimensions: [("role", role)], factory: registry)
    }
    opened = (counter("admin"), counter("other"))
    func handed(_ outcome: String) -> Counter {
      Counter(label: MetricFamily.connectionsHandedOver.name, dimensions: [("outcome", outcome)], factory: registry)
    }
    handedOver = (handed("kept"), handed("closed"))
    registry.collect { [weak self] in self?.samples ?? [] }
  }

  private var samples: [MetricSample] {
    [
      MetricSample(.connections, ["admin"], is: openAdmins.load(ordering: .relaxed)),
      MetricSample(.connections, ["other"], is: openOthers.load(ordering: .relaxed)),
    ]
  }

  /// The number of open connections.
  var open: Int { openAdmins.load(ordering: .relaxed) + openOthers.load(ordering: .relaxed) }

  func began(isAdmin: Bool) {
    (isAdmin ? opened.admin : opened.other).increment()
    change(isAdmin: isAdmin, by: 1)
  }

  /// Counts the connections that the former daemon left.
  func handedOver(_ kept: Int, _ closed: Int) {
    handedOver.kept.increment(by: Int64(clamping: kept))
    handedOver.closed.increment(by: Int64(clamping: closed))
  }

  func ended(isAdmin: Bool) { change(isAdmin: isAdmin, by: -1) }

  private func change(isAdmin: Bool, by amount: Int) {
    if isAdmin {
      openAdmins.wrappingAdd(amount, ordering: .relaxed)
    } else {
      openOthers.wrappingAdd(amount, ordering: .relaxed)
    }
  }
}
