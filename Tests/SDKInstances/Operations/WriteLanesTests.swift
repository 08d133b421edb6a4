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

  @Test func `Instances don't wait for each other`() async throws {
    let lanes = WriteLanes()
    let held = lanes.take(try #require(InstanceID("a")))
    await lanes.take(try #require(InstanceID("b"))).turn()
    held.release()
  }
}
