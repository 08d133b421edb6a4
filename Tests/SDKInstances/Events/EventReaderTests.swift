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

  @Test("A damaged event is a gap, on whichever page it is", arguments: [5, 200] as [UInt64])
  func damagedEvents(position: UInt64) async throws {
    try await World.run { world in
      try await Self.makeInstances(300, in: world, Records<Bool>())
      let store = DamagedStore(base: world.store, damaged: position)
      let reader = EventReader(store: store, directory: world.registry)
      let peer = Peer(pid: 1, uid: 7, gid: 7)
      func list(after start: UInt64) async throws -> EventReader.Listing {
        try await reader.list(
          after: EventPlace(start), filter: EventFilter(), peer: peer, limit: 2000, maximumBytes: 1 << 20)
      }
      let listing = try await list(after: 0)
      #expect(listing.events.count == 299 && listing.hasGap && listing.isEnd)
      #expect(try await !list(after: position).hasGap)
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

/// A store in which one event does not open.
private struct DamagedStore: ForwardingStore {
  let base: any StateStore
  let damaged: UInt64

  func eventPage(
    after position: UInt64, limit: Int, of instances: Set<InstanceUUID>?
  ) async throws(SDKError) -> EventPage {
    var page = try await base.eventPage(after: position, limit: limit, of: instances)
    let count = page.events.count
    page.events.removeAll { $0.position == damaged }
    if page.events.count < count {
      page.lost[.anyDeleted] = damaged
      page.damaged = damaged
    }
    return page
  }
}
