import JSONRPC
import SDKProtocol
import Testing

@testable import SDKInstances

struct OrderTests {
  @Test func `A call before readiness waits, the contract does not`() async throws {
    try await World.run(isReady: false) { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let session = world.session()
      #expect(world.accept("rpc.discover", nil, on: session).isImmediate)
      let early = world.accept("token.get", ["instance": "desk"], on: session)
      async let answer = World.finish(early)
      let answered = Records<String>()
      let waiting = Task { [early = world.accept("instance.get", ["instance": "desk"], on: session)] in
        let result = await World.finish(early)
        answered.add("done")
        return result
      }
      for _ in 0..<200 { await Task.yield() }
      #expect(answered.count == 0)
      world.registry.availability.serve()
      #expect(await waiting.value.value?["state"] == "authenticated")
      _ = await answer
    }
  }

  @Test func `When state can't be read calls say why, and those that need none answer`() async throws {
    try await World.run(isReady: false) { world in
      world.registry.availability.fail(SDKError(.store, .keyMissing, "The key is missing; restore it."))
      let session = world.session()
      #expect(await world.call("instance.list", on: session).reason == "keyMissing")
      #expect(await world.call("token.get", ["instance": "x"], on: session).reason == "keyMissing")
      #expect(await world.call("daemon.info", on: session).value?["name"] == "sdkd")
      #expect(await world.call("daemon.health", on: session).value != nil)
      #expect(await world.call("rpc.discover", on: session).value != nil)
      for method in ["daemon.metrics", "daemon.reload"] {
        #expect(await world.call(method, on: session).value != nil, "\(method)")
        #expect(await world.call(method, on: world.session(uid: 7)).reason == "accessDenied", "\(method)")
      }
    }
  }

  @Test func `A call is in progress from its acceptance to its end`() async throws {
    try await World.run { world in
      _ = try await world.instance()
      let calls = (0..<2).map { _ in world.accept("instance.get", ["instance": "desk"], on: world.session()) }
      #expect(world.gateway.callsInProgress == 2)
      _ = await World.finish(calls[0])
      #expect(world.gateway.callsInProgress == 1)
      if case .run(let call) = calls[1] { call.abandon() }
      #expect(world.gateway.callsInProgress == 0)
    }
  }

  @Test func `Writes run in the order of their arrival`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let calls = (0..<20).map { index in
        // Each call has its own connection: writes are ordered per instance, not per connection.
        world.accept("storage.put", ["instance": "desk", "key": "k", "value": JSON(index)], on: world.session())
      }
      await withTaskGroup(of: Void.self) { group in
        for call in calls.reversed() { group.addTask { _ = await World.finish(call) } }
      }
      #expect(try await desk.storedValue("k", epoch: nil).value == 19)
    }
  }

  @Test func `A read sees the writes before it on its connection`() async throws {
    try await World.run { world in
      _ = try await world.instance()
      let session = world.session()
      let write = world.accept("storage.put", ["instance": "desk", "key": "k", "value": 1], on: session)
      let read = world.accept("storage.get", ["instance": "desk", "key": "k"], on: session)
      let answer = Task { await World.finish(read) }
      #expect(
        await world.call("storage.get", ["instance": "desk", "key": "k"], on: world.session()).value?["value"] == .null)
      _ = await World.finish(write)
      #expect(await answer.value.value?["value"] == 1)
    }
  }

  @Test func `A read sees a login that still runs, even if a later write has ended`() async throws {
    try await World.run { world in
      _ = try await world.instance()
      let session = world.session()
      let gate = world.vendor.hold(.signIn)
      let login = Task { [call = world.accept("fake.login", ["instance": "desk", "token": "alice#1"], on: session)] in
        await World.finish(call)
      }
      try await eventually("the login is at the vendor") { world.vendor.count(.signIn) == 1 }
      #expect(
        await world.call("instance.update", ["instance": "desk", "labels": ["a": "b"]], on: session).value != nil)
      let read = world.accept("token.get", ["instance": "desk"], on: session)
      #expect(!read.isImmediate)
      let answer = Task { await World.finish(read) }
      for _ in 0..<200 { await Task.yield() }
      gate.open()
      #expect(await login.value.value?["externalId"] == "alice")
      #expect(await answer.value.value?["token"] == "alice#1")
    }
  }

  @Test func `A newer login supersedes one that hangs`() async throws {
    try await World.run { world in
      _ = try await world.instance()
      let session = world.session()
      _ = world.vendor.hold(.signIn)
      let first = Task { [call = world.accept("fake.login", ["instance": "desk", "token": "alice#1"], on: session)] in
        await World.finish(call)
      }
      try await eventually("the first login is at the vendor") { world.vendor.count(.signIn) == 1 }
      let second = await world.call("fake.login", ["instance": "desk", "token": "bob#1"], on: session)
      #expect(second.value?["externalId"] == "bob")
      #expect(await first.value.reason == "superseded")
    }
  }

  @Test func `A cached token is answered at once, but not past a write of its own connection`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let session = world.session()
      #expect(world.accept("token.get", ["instance": "desk"], on: session).isImmediate)
      #expect(!world.accept("token.get", ["instance": "desk"], on: world.session(uid: 7)).isImmediate)
      let write = world.accept("fake.logout", ["instance": "desk"], on: session)
      let read = world.accept("token.get", ["instance": "desk"], on: session)
      #expect(!read.isImmediate)
      #expect(world.accept("token.get", ["instance": "desk"], on: world.session()).isImmediate)
      _ = await World.finish(write)
      #expect(await World.finish(read).reason == "notAuthenticated")
    }
  }

  @Test func `A call that is given up lets the next go`() async throws {
    try await World.run { world in
      _ = try await world.instance()
      let session = world.session()
      let params: JSON = ["instance": "desk", "key": "k", "value": 1]
      guard case .run(let given) = world.accept("storage.put", params, on: session) else {
        Issue.record("not to be run")
        return
      }
      let next = world.accept("storage.put", params, on: session)
      let bad = world.accept("storage.put", ["instance": "desk", "kee": 1], on: session)
      #expect(bad.isImmediate)
      given.abandon()
      #expect(await World.finish(next).value == [:])
      #expect(await world.call("storage.put", params, on: session).value == [:])
    }
  }

  @Test func `A call that is cancelled before its turn has not happened`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let session = world.session()
      let gate = world.vendor.hold(.signIn)
      let login = Task { [call = world.accept("fake.login", ["instance": "desk", "token": "alice#1"], on: session)] in
        await World.finish(call)
      }
      let write = Task {
        [call = world.accept("storage.put", ["instance": "desk", "key": "k", "value": 1], on: session)] in
        await World.finish(call)
      }
      try await eventually("the login is at the vendor") { world.vendor.count(.signIn) == 1 }
      write.cancel()
      #expect(await write.value.error == .cancelled)
      gate.open()
      _ = await login.value
      #expect(try await desk.storedValue("k", epoch: nil).value == .null)
    }
  }
}
