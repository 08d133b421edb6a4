import JSONRPC
import SDKProtocol
import Testing

@testable import SDKInstances
@testable import StateStore

struct EventOrderTests {
  private func events(_ positions: UInt64...) throws -> [StoredEvent] {
    let id = try #require(InstanceID("desk"))
    return positions.map {
      StoredEvent(
        position: $0, uuid: InstanceUUID("u"), id: id, kind: KindName("k"), time: ManualClock.start,
        type: .settingsUpdated, data: [:])
    }
  }

  /// Takes events until one is missing (`-`) or none is left, and returns their positions.
  private func take(_ order: inout EventOrder) -> [String] {
    var taken: [String] = []
    while true {
      switch order.next() {
      case .event(let event): taken.append("\(event.position)")
      case .missing: return taken + ["-"]
      case .nothing: return taken
      }
    }
  }

  @Test func `What comes early waits for what is missing, and nothing comes twice`() throws {
    var order = EventOrder(after: 10, capacity: 8)
    order.add(try events(13, 12, 9, 10))
    #expect(take(&order) == ["-"])
    order.add(try events(11, 11))
    #expect(take(&order) == ["11", "12", "13"])
    order.add(try events(11, 13, 14))
    #expect(take(&order) == ["14"])
    #expect(order.reached == 14 && order.newest == 14 && order.count == 0)
  }

  @Test func `No more is held than may be, and what is not held is missing`() throws {
    var order = EventOrder(after: 0, capacity: 2)
    order.add(try events(1, 2, 3, 4))
    #expect(order.count == 2 && order.newest == 4)
    #expect(take(&order) == ["1", "2", "-"])
    order.skip(to: 4)
    #expect(take(&order) == [])
    order.add(try events(5))
    #expect(take(&order) == ["5"])
  }

  @Test func `The last position before the first missing event is known`() throws {
    var order = EventOrder(after: 10, capacity: 3)
    #expect(order.contiguous == 10)
    order.add(try events(12, 14))
    #expect(order.contiguous == 10)
    order.add(try events(11))
    #expect(order.contiguous == 12)
    #expect(take(&order) == ["11", "12", "-"])
    #expect(order.contiguous == 12)
    order.skip(to: 13)
    #expect(order.contiguous == 14)
    order.skip(to: 20)
    #expect(order.contiguous == 20)
  }

  @Test func `What was read from the store is not given out again`() throws {
    var order = EventOrder(after: 0, capacity: 8)
    order.add(try events(2, 3, 6))
    order.skip(to: 4)
    order.skip(to: 1)
    #expect(order.count == 1)
    order.add(try events(4, 5))
    #expect(take(&order) == ["5", "6"])
  }
}
