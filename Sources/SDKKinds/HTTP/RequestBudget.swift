import Concurrency
import DequeModule

/// The limit on the requests of each instance that are in progress at one host. Further ones wait in the order of their
/// calls. An instance whose requests hang then leaves the client's other connections to the instances that share it.
struct RequestBudget {
  /// An instance and a host.
  struct Requester: Hashable {
    var instance: String
    var host: String
  }

  private struct Load {
    var count = 0
    var waiting: Deque<Promise<Void>> = []
  }

  /// The maximum number of requests of an instance at one host.
  static let maximum = 4

  private var loads: [Requester: Load] = [:]

  /// Whether no request is in progress.
  var isEmpty: Bool { loads.isEmpty }

  /// The number of requests that wait.
  var waitingCount: Int { loads.values.reduce(0) { $0 + $1.waiting.count } }

  /// Counts a request that begins. Returns a promise to wait for if there are too many; `nil` if it may begin at once.
  /// Call `leave` at its end, or `withdraw` if it does not wait any longer.
  mutating func enter(_ requester: Requester) -> Promise<Void>? {
    guard loads[requester, default: Load()].count >= Self.maximum else {
      loads[requester, default: Load()].count += 1
      return nil
    }
    let turn = Promise<Void>()
    loads[requester]?.waiting.append(turn)
    return turn
  }

  /// Ends a request. The one that has waited longest takes its place.
  mutating func leave(_ requester: Requester) {
    if let next = loads[requester]?.waiting.popFirst() {
      next.resolve(.success(()))
    } else {
      loads[requester]?.count -= 1
      if loads[requester]?.count == 0 { loads[requester] = nil }
    }
  }

  /// Ends the wait of a request that does not begin.
  mutating func withdraw(_ turn: Promise<Void>, of requester: Requester) {
    if let index = loads[requester]?.waiting.firstIndex(where: { $0 === turn }) {
      loads[requester]?.waiting.remove(at: index)
    } else {
      // Its turn came meanwhile.
      leave(requester)
    }
  }
}
