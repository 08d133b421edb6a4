import DelegateBridge
import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

struct LogoutTests {
  @Test func `A logout tells the vendor and wipes`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      #expect(try await desk.signOut())
      #expect(desk.state == .loggedOut)
      #expect(desk.user == .none)
      #expect(await reason { _ = try await desk.token() } == "notAuthenticated")
      #expect(try await world.last(.userLoggedOut)?.data["cause"] == "explicit")
      #expect(try await world.count(.identityWiped) == 1)
      let stored = try #require(try await world.store.load().instances.first)
      #expect(stored.identity?["credential"] == nil)
    }
  }

  @Test func `A second logout is fine and wipes nothing more`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      #expect(try await desk.signOut() == false)
      try await desk.signIn("alice#1")
      try await desk.signOut()
      #expect(try await desk.signOut() == false)
      #expect(try await world.count(.identityWiped) == 1)
      #expect(world.vendor.count(.signOut) == 1)
    }
  }

  @Test(arguments: [SampleErrors.network, SampleErrors.serverError])
  func `An outage keeps everything, unless the logout is local only`(error: SDKError) async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.vendor.fail(.signOut, error)
      #expect(await reason { try await desk.signOut() } == error.reason.rawValue)
      #expect(try await desk.token().token == "alice#1")
      #expect(world.bridge.questions.isEmpty)
      #expect(try await desk.signOut(localOnly: true) == false)
      #expect(desk.state == .loggedOut)
    }
  }

  @Test func `A refusal is a local logout`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.vendor.fail(.signOut, SampleErrors.refused)
      #expect(try await desk.signOut() == false)
      #expect(desk.state == .loggedOut)
    }
  }

  @Test func `An expired user's logout asks the bridge once for a token to log out with`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      world.clock.advance(61)
      world.bridge.fail(SampleErrors.failed)
      #expect(await reason { _ = try await desk.token() } == "providerFailed")
      world.bridge.answer("alice#2@600")
      #expect(try await desk.signOut())
      #expect(world.vendor.calls.last == "signOut alice#2@600")
      #expect(world.bridge.questions.count == 2)
    }
  }

  @Test func `Without a fresh token the logout is local`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      world.clock.advance(61)
      world.bridge.fail(SampleErrors.failed, SampleErrors.failed)
      _ = await reason { _ = try await desk.token() }
      #expect(try await desk.signOut() == false)
      #expect(desk.state == .loggedOut)
      #expect(world.vendor.count(.signOut) == 0)
    }
  }

  @Test func `A logout that the vendor can't read is local, because it would never succeed`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.vendor.fail(.signOut, SampleErrors.unprocessable)
      #expect(try await desk.signOut() == false)
      #expect(desk.state == .loggedOut)
      #expect(try await world.count(.networkError) == 0)
    }
  }

  @Test func `A login waits for the logout before it, and so does another logout`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let gate = world.vendor.hold(.signOut)
      async let informed = desk.signOut()
      try await eventually("the logout is at the vendor") { world.vendor.count(.signOut) == 1 }
      async let login = desk.signIn("bob#1")
      #expect(world.vendor.count(.signIn) == 1)
      gate.open()
      #expect(try await informed)
      #expect(try await login.externalId == "bob")
      let next = world.vendor.hold(.signOut)
      async let second = desk.signOut()
      try await eventually("the next logout is at the vendor") { world.vendor.count(.signOut) == 2 }
      async let again = desk.signOut()
      next.open()
      #expect(try await second)
      #expect(try await again == false)
      #expect(try await world.count(.logoutFailed) == 0)
    }
  }

  @Test func `A login that waits for a logout can be cancelled`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let gate = world.vendor.hold(.signOut)
      async let informed = desk.signOut()
      try await eventually("the logout is at the vendor") { world.vendor.count(.signOut) == 1 }
      let login = Task { try await desk.signIn("bob#1") }
      login.cancel()
      await #expect(throws: CancellationError.self) { try await login.value }
      gate.open()
      #expect(try await informed)
      #expect(world.vendor.count(.signIn) == 1)
    }
  }

  @Test func `A logout that can't be stored is not told to the vendor`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.store.failNextCommits(1)
      #expect(await reason { try await desk.signOut() } == "storeUnavailable")
      #expect(world.vendor.count(.signOut) == 0)
      #expect(desk.state == .authenticated)
      #expect(try await desk.token().token == "alice#1")
      #expect(try await desk.signOut())
    }
  }

  @Test func `A logout that is on disk is done, also when the old key can't be removed, and says so`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.store.failNextCommits(1, afterWriting: true)
      #expect(await reason { try await desk.signOut(localOnly: true) } == "storeUnavailable")
      #expect(desk.state == .loggedOut)
      #expect(try await world.events().suffix(2) == [.userLoggedOut, .identityWiped])
      try await eventually("it is told") { world.heardEvents.all.last?.type == .identityWiped }
      try await desk.signIn("bob#1")
      #expect(try await desk.token().token == "bob#1")
    }
  }

  @Test func `A logout that is stored no more after the vendor's answer says so`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let gate = world.vendor.hold(.signOut)
      async let logout = message { try await desk.signOut() }
      try await eventually("the logout is at the vendor") { world.vendor.count(.signOut) == 1 }
      world.store.failNextCommits(1)
      gate.open()
      #expect(await logout?.hasPrefix("The vendor has ended the session, but that could not be stored") == true)
      #expect(desk.state == .locked)
    }
  }

  @Test func `An anonymous user's logout is local, and the next session makes another`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let first = try await desk.openSession(minTTL: 0, timeout: nil)
      #expect(try await desk.signOut() == false)
      let second = try await desk.openSession(minTTL: 0, timeout: nil)
      #expect(first.user.id != second.user.id)
      #expect(first.storageEpoch != second.storageEpoch)
      #expect(world.vendor.count(.signOut) == 0)
    }
  }
}

/// Returns the message of the error that `work` throws; `nil` for no error.
private func message(_ work: () async throws -> Void) async -> String? {
  do {
    try await work()
    return nil
  } catch let error as any RPCErrorConvertible {
    return error.rpcError.message
  } catch {
    return "\(error)"
  }
}
