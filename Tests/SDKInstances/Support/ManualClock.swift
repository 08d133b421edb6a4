import SDKProtocol
import Synchronization

@testable import SDKInstances

/// A wall clock that only advances when a test advances it.
final class ManualClock: Sendable {
  static let start = Timestamp(secondsSince1970: 1_795_259_340)
  private let time = Mutex(start)

  var now: Timestamp { time.withLock { $0 } }
  func advance(_ seconds: Double) { time.withLock { $0 = $0 + seconds } }
  var wall: WallClock { WallClock(now: { self.now }, random: { 0.5 }) }
}

/// A thread-safe list of items, in the order in which they were added.
final class Records<Item: Sendable>: Sendable {
  private let items = Mutex<[Item]>([])

  func add(_ item: Item) { items.withLock { $0.append(item) } }
  var all: [Item] { items.withLock { $0 } }
  var count: Int { all.count }
}
