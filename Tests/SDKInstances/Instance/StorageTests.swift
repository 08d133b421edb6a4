import DelegateBridge
import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

struct StorageTests {
  @Test func `Values are kept, listed and removed`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.store(["a": [1, nil]], for: "b", epoch: nil)
      try await desk.store("x", for: "a", epoch: nil)
      #expect(try await desk.storedValue("b", epoch: nil).value == ["a": [1, nil]])
      #expect(try await desk.storedKeys(epoch: nil).keys.map(\.key) == ["a", "b"])
      #expect(try await desk.storedKeys(epoch: nil).keys.map(\.bytes) == [3, 14])
      try await desk.removeValue("b", epoch: nil)
      try await desk.removeValue("b", epoch: nil)
      #expect(try await desk.storedValue("b", epoch: nil).value == .null)
    }
  }

  @Test(arguments: ["", "a\n", "a\u{0}", "a\u{200B}", "a\u{2028}", String(repeating: "k", count: 129)])
  func `A key is printable and has a length`(key: String) async throws {
    try await World.run { world in
      let desk = try await world.instance()
      #expect(await reason { try await desk.store(1, for: key, epoch: nil) } == "invalidParams")
      #expect(await reason { _ = try await desk.storedValue(key, epoch: nil) } == "invalidParams")
    }
  }

  @Test func `A value has a size, and so has an instance`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let largest = JSON.string(String(repeating: "x", count: 32 * 1024 - 2))
      try await desk.store(largest, for: "k", epoch: nil)
      let larger = JSON.string(String(repeating: "x", count: 32 * 1024 - 1))
      #expect(await reason { try await desk.store(larger, for: "k", epoch: nil) } == "storageFull")
      for index in 1..<31 { try await desk.store(largest, for: "k\(index)", epoch: nil) }
      #expect(await reason { try await desk.store(largest, for: "k31", epoch: nil) } == "storageFull")
      try await desk.removeValue("k", epoch: nil)
      try await desk.store(largest, for: "k31", epoch: nil)
    }
  }

  @Test func `A value that is refused holds up nothing else`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["refresh": ["mode": "eager", "jitter": 0]])
      try await desk.signIn("alice#1@120")
      let largest = JSON.string(String(repeating: "x", count: 32 * 1024 - 2))
      for index in 0..<31 { try await desk.store(largest, for: "k\(index)", epoch: nil) }
      world.bridge.answer("alice#2@600")
      world.clock.advance(58)
      #expect(await reason { try await desk.store(largest, for: "k31", epoch: nil) } == "storageFull")
      world.clock.advance(2)
      try await eventually("the token is renewed before its end", waking: world.deadlines) {
        !world.bridge.questions.isEmpty
      }
    }
  }

  @Test func `No write of one user's app reaches the next user`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let epoch = try await desk.openSession(minTTL: 0, timeout: nil).storageEpoch
      try await desk.store(1, for: "k", epoch: epoch)
      try await desk.signOut()
      try await desk.signIn("bob#1")
      for work in [
        { try await desk.store(1, for: "k", epoch: epoch) }, { try await desk.removeValue("k", epoch: epoch) },
        { _ = try await desk.storedValue("k", epoch: epoch) }, { _ = try await desk.storedKeys(epoch: epoch) },
      ] as [() async throws -> Void] {
        #expect(await reason(work) == "epochChanged")
      }
    }
  }

  @Test func `A read gives the epoch of its values, also before the instance knows of a wipe`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.store(1, for: "k", epoch: nil)
      let former = try await desk.storedKeys(epoch: nil).epoch
      let wiped = try await world.store.commit(
        InstanceChange(uuid: desk.uuid, id: desk.id, kind: desk.kind, parts: [.wipe])
      ).wiped
      let epoch = desk.uuid.clientStorageEpoch(try #require(wiped).storageEpoch)
      #expect(former != epoch)
      #expect(try await desk.storedKeys(epoch: nil).epoch == epoch)
      #expect(try await desk.storedValue("k", epoch: nil).epoch == epoch)
      // A read accepts the epoch that the previous one returned.
      #expect(try await desk.storedKeys(epoch: epoch).epoch == epoch)
      #expect(try await desk.storedValue("k", epoch: epoch).epoch == epoch)
      #expect(await reason { _ = try await desk.storedKeys(epoch: former) } == "epochChanged")
      #expect(await reason { _ = try await desk.storedValue("k", epoch: former) } == "epochChanged")
    }
  }
}
