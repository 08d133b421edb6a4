import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

struct EventReaderTests {
  @Test func `A caller that reads the past page by page misses no instance that is made meanwhile`() async throws {
    try await World.run { world in
      let ends = Records<Bool>()
      async let made: Void = Self.makeInstances(1000, in: world, ends)
      let reader = EventReader(store: world.store, directory: world.registry)
      var seen = 0
      var place = EventPlace(0)
      var isLast = false
      while !isLast {
        isLast = ends.count > 0
        let listing = try await reader.list(
          after: place, filter: EventFilter(), peer: Peer(pid: 1, uid: 7, gid: 7), limit: 2000, maximumBytes: 1 << 20)
        seen += listing.events.count
        place = listing.place
      }
      try await made
      #expect(seen == 1000)
    }
  }

  private static func makeInstances(_ count: Int, in world: World, _ ends: Records<Bool>) async throws {
    defer { ends.add(true) }
    let observer = try #require(AccessRule("uid:7"))
    for number in 0..<count {
      _ = try await world.instance("desk\(number)", access: AccessRules(observe: [observer]))
    }
  }
}
