import Glibc
import JSONRPC
import JSONRPCTransport
import SDKClientTesting
import Synchronization
import Testing

struct CallTests {
  @Test func typedAndByName() async throws {
    let directory = try TestDirectory()
    let daemon = TestDaemon { request, _ in
      switch request.method {
      case "daemon.health": .answer(Samples.health)
      case "instance.delete": .answer([:])
      default: .answer(request.params ?? .null)
      }
    }
    try await daemon.serve(at: directory.socket) { daemon in
      let client = try await SDKClient.connect(socket: .path(directory.socket))
      let health = try await client.call(DaemonHealth.self)
      #expect(health.status == .ok)
      let id = try #require(InstanceID("kiosk"))
      _ = try await client.call(InstanceDelete.self, .init(instance: id, logout: true))
      let answer = try await client.call("kind.method", ["a": 1])
      #expect(answer == ["a": 1])
      #expect(daemon.requests[1].params == ["instance": "kiosk", "logout": true])
      #expect(daemon.connections.count == 1)
    }
  }

  @Test func aRefusalHasItsReason() async throws {
    let directory = try TestDirectory()
    try await TestDaemon { _, _ in .refuse(Samples.accessDenied) }.serve(at: directory.socket) { _ in
      let client = SDKClient(socket: .path(directory.socket))
      let error = await #expect(throws: SDKClientError.self) { try await client.call("x") }
      #expect(error == .rpc(Samples.accessDenied))
      #expect(error?.reason == "accessDenied")
    }
  }

  @Test func aMissingDaemonIsSaidAtOnce() async throws {
    let directory = try TestDirectory()
    // Even a read does not wait. Only after an earlier connection can a missing daemon be one that restarts.
    let options = ClientOptions(sleep: { _ in Issue.record("waits for a daemon that was never there") })
    let client = SDKClient(socket: .path(directory.socket), options: options)
    await #expect(throws: SDKClientError.noDaemon(path: directory.socket)) { try await client.call(DaemonHealth.self) }
  }

  @Test func anAnswerOfAnotherShape() async throws {
    let daemon = ScriptedDaemon()
    daemon.on("daemon.health") { _ in ["status": "splendid", "checks": []] }
    let client = daemon.client()
    let error = await #expect(throws: SDKClientError.self) { try await client.call(DaemonHealth.self) }
    #expect(error?.reason == "badAnswer")
  }

  @Test func aCallHasItsTime() async throws {
    let directory = try TestDirectory()
    try await TestDaemon { _, _ in .silence }.serve(at: directory.socket) { _ in
      let client = SDKClient(socket: .path(directory.socket))
      await #expect(throws: SDKClientError.timeout) {
        try await client.call(DaemonHealth.self, timeout: .milliseconds(20))
      }
    }
  }

  @Test func cancellingIsNoErrorOfTheDaemon() async throws {
    let directory = try TestDirectory()
    try await TestDaemon { _, _ in .silence }.serve(at: directory.socket) { daemon in
      let client = SDKClient(socket: .path(directory.socket))
      let call = Task { try await client.call(DaemonHealth.self) }
      try await waitUntil("it is asked") { daemon.requests.count == 1 }
      call.cancel()
      await #expect(throws: CancellationError.self) { try await call.value }
    }
  }

  @Test func aServerOfAnotherUserHearsNothing() async throws {
    let daemon = ScriptedDaemon(serverUid: 4711)
    let client = daemon.client()
    await #expect(throws: SDKClientError.untrustedServer(uid: 4711)) { try await client.call(DaemonHealth.self) }
    #expect(daemon.calls.isEmpty)
    #expect(daemon.connectionCount == 0)
  }

  @Test func aRealSocketIsChecked() async throws {
    let directory = try TestDirectory()
    try await TestDaemon { _, _ in .answer([:]) }.serve(at: directory.socket) { daemon in
      let strict = ClientOptions(trust: ServerTrust { $0 != geteuid() })
      let client = SDKClient(socket: .path(directory.socket), options: strict)
      await #expect(throws: SDKClientError.untrustedServer(uid: geteuid())) { try await client.call("x") }
      #expect(daemon.requests.isEmpty)
      let own = getpid()
      #expect(ServerTrust.standard.includes(uid: 0, pid: own))
      #expect(ServerTrust.standard.includes(uid: geteuid(), pid: own))
      #expect(!ServerTrust.standard.includes(uid: 4_000_000_000, pid: own))
    }
  }

  @Test(
    "Behind the service manager root is trusted only on sockets in sdkd's directories", arguments: [0, 1] as [Int32])
  func serviceManager(pid: Int32) throws {
    #expect(!ServerTrust.standard.includes(uid: 0, pid: pid))
    #expect(!ServerTrust.standard.includes(uid: 0, pid: pid, path: "/run/foreign.sock"))
    #expect(!ServerTrust.standard.includes(uid: 0, pid: pid, path: "/run/sdkd/../foreign.sock"))
    #expect(!ServerTrust.standard.includes(uid: 0, pid: pid, path: "/run/sdkd/inner/foreign.sock"))
  }

  @Test("A socket that the service manager passes to another user's service is sent nothing")
  func aForeignService() async throws {
    let daemon = ScriptedDaemon(serverUid: 0, serverPid: 1)
    let client = SDKClient(socket: .path("/run/foreign.sock"), connector: daemon.connector)
    await #expect(throws: SDKClientError.untrustedServer(uid: 0)) { try await client.call(DaemonHealth.self) }
    #expect(daemon.calls.isEmpty)
  }

  @Test func aWriteThatTakesTooLongIsUnknown() async throws {
    let directory = try TestDirectory()
    try await TestDaemon { _, _ in .silence }.serve(at: directory.socket) { _ in
      let options = ClientOptions(callTimeout: .milliseconds(20))
      let client = SDKClient(socket: .path(directory.socket), options: options)
      await #expect(throws: SDKClientError.outcomeUnknown(method: "kind.write", .timeout)) {
        try await client.call("kind.write")
      }
    }
  }

  @Test func onlySoManyCallsWait() async throws {
    let directory = try TestDirectory()
    try await TestDaemon { _, _ in .silence }.serve(at: directory.socket) { daemon in
      let client = SDKClient(socket: .path(directory.socket), options: ClientOptions(maxCalls: 2))
      let waiting = (0..<2).map { _ in Task { try await client.call(DaemonHealth.self) } }
      try await waitUntil("they wait") { daemon.requests.count == 2 }
      await #expect(throws: SDKClientError.tooManyCalls(limit: 2)) { try await client.call(DaemonHealth.self) }
      for call in waiting { call.cancel() }
      for call in waiting { _ = await call.result }
      #expect(daemon.requests.count == 2)
      let last = Task { try await client.call(DaemonHealth.self) }
      try await waitUntil("there is room again") { daemon.requests.count == 3 }
      last.cancel()
    }
  }

  @Test func aReadWaitsForTheRateLimitIfItMay() async throws {
    let limit = SDKError(.limit, .rateLimit, "Too fast.", retryAfter: 0.25).rpcError
    let daemon = ScriptedDaemon()
    daemon.on("daemon.health") { [daemon] _ in
      guard daemon.calls.count > 2 else { throw limit }
      return Samples.health
    }
    let pauses = Mutex<[Duration]>([])
    let options = ClientOptions(
      rateLimitPatience: .seconds(1), sleep: { pause in pauses.withLock { $0.append(pause) } })
    let health = try await daemon.client(options: options).call(DaemonHealth.self)
    #expect(health.status == .ok)
    #expect(pauses.withLock { $0 } == [.seconds(0.25), .seconds(0.25)])
    let other = ScriptedDaemon()
    other.on("daemon.health") { _ in throw limit }
    await #expect(throws: SDKClientError.rpc(limit)) { try await other.client().call(DaemonHealth.self) }
    #expect(other.calls.count == 1)
  }
}
