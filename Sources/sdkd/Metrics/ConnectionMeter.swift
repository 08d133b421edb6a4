import CoreMetrics
import OpenMetrics
import Synchronization

/// A counter of connections and of their calls in progress.
final class ConnectionMeter: Sendable {
  private let opened: (admin: Counter, other: Counter)
  private let openAdmins = Atomic(0)
  private let openOthers = Atomic(0)
  private let running = Atomic(0)

  init(registry: MetricsRegistry) {
    func counter(_ role: String) -> Counter {
      Counter(label: MetricFamily.connectionsOpened.name, dimensions: [("role", role)], factory: registry)
    }
    opened = (counter("admin"), counter("other"))
    registry.collect { [weak self] in self?.samples ?? [] }
  }

  private var samples: [MetricSample] {
    [
      MetricSample(.connections, ["admin"], is: openAdmins.load(ordering: .relaxed)),
      MetricSample(.connections, ["other"], is: openOthers.load(ordering: .relaxed)),
      MetricSample(.callsInFlight, is: running.load(ordering: .relaxed)),
    ]
  }

  /// The number of open connections and of their calls in progress.
  var counts: (connections: Int, calls: Int) {
    (
      openAdmins.load(ordering: .relaxed) + openOthers.load(ordering: .relaxed), running.load(ordering: .relaxed)
    )
  }

  func began(isAdmin: Bool) {
    (isAdmin ? opened.admin : opened.other).increment()
    change(isAdmin: isAdmin, by: 1)
  }

  func ended(isAdmin: Bool) { change(isAdmin: isAdmin, by: -1) }

  /// Counts a call that waits or runs. Each call of this needs one `callEnded`.
  func callBegan() { running.wrappingAdd(1, ordering: .relaxed) }
  func callEnded() { running.wrappingSubtract(1, ordering: .relaxed) }

  private func change(isAdmin: Bool, by amount: Int) {
    if isAdmin {
      openAdmins.wrappingAdd(amount, ordering: .relaxed)
    } else {
      openOthers.wrappingAdd(amount, ordering: .relaxed)
    }
  }
}
