import SDKProtocol
import Testing

@testable import SDKInstances

struct WriteLanesTests {
  @Test func `Turns come in the order of the places, whenever they are waited for`() async throws {
    let lanes = WriteLanes()
    let id = try #require(InstanceID("a"))
    let places = (0..<20).map { _ in lanes.take(id) }
    let order = Records<Int>()
    await withTaskGroup(of: Void.self) { group in
      for (index, place) in places.enumerated().shuffled() {
        group.addTask {
          await place.turn()
          order.add(index)
          place.release()
        }
      }
    }
    #expect(order.all == Array(0..<20))
  }

  @Test func `A place that is given back unused holds nobody`() async throws {
    let lanes = WriteLanes()
    let id = try #require(InstanceID("a"))
    let (first, second, third) = (lanes.take(id), lanes.take(id), lanes.take(id))
    second.release()
    second.release()
    first.release()
    await third.turn()
    third.release()
    await second.turn()
  }

  @Test func `A cancelled wait ends, and the others keep their order`() async throws {
    let lanes = WriteLanes()
    let id = try #require(InstanceID("a"))
    let (first, second, third) = (lanes.take(id), lanes.take(id), lanes.take(id))
    let order = Records<Int>()
    let cancelled = Task {
      await second.turn()
      second.release()
    }
    let waiting = Task {
      await third.turn()
      order.add(3)
    }
    try await Task.sleep(for: .milliseconds(50))
    cancelled.cancel()
    await cancelled.value
    order.add(1)
    first.release()
    await waiting.value
    #expect(order.all == [1, 3])
    third.release()
    let late = (lanes.take(id), lanes.take(id))
    let early = Task {
      try? await Task.sleep(for: .seconds(60))
      await late.1.turn()
    }
    early.cancel()
    await early.value
  }

  @Test func `Instances don't wait for each other`() async throws {
    let lanes = WriteLanes()
    let held = lanes.take(try #require(InstanceID("a")))
    await lanes.take(try #require(InstanceID("b"))).turn()
    held.release()
  }
}
