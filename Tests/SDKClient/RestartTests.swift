import JSONRPC
import JSONRPCTransport
import SDKClient
import Testing

/// The outcome of calls when the daemon stops and starts again.
struct RestartTests {
  private let directory: TestDirectory
  /// A gate that delays the client's retry until the next daemon listens.
  private let pause = Gate()

  init() throws { directory = try TestDirectory() }

  private var client: SDKClient {
    SDKClient(socket: .path(directory.socket), options: ClientOptions(sleep: { [pause] _ in await pause.wait() }))
  }

  @Test func aReadSurvivesARestart() async throws {
    let client = client
    var read: Task<DaemonHealth.Result, any Error>?
    try await TestDaemon { _, _ in .silence }.serve(at: directory.socket) { daemon in
      read = Task { try await client.call(DaemonHealth.self) }
      try await waitUntil("it is asked") { daemon.requests.count == 1 }
    }
    try await waitUntil("the client waits") { pause.arrivals == 1 }
    try await TestDaemon { _, _ in .answer(Samples.health) }.serve(at: directory.socket) { daemon in
      pause.open()
      let health = try await read?.value
      #expect(health?.status == .ok)
      #expect(daemon.requests.count == 1)
    }
  }

  @Test func aReadThatWasNotRunIsSentToTheNextDaemon() async throws {
    let client = client
    var read: Task<JSON, any Error>?
    try await TestDaemon { _, _ in .refuse(Samples.shuttingDown) }.serve(at: directory.socket) { _ in
      read = Task { try await client.call("daemon.health") }
      try await waitUntil("the client waits") { pause.arrivals == 1 }
    }
    try await TestDaemon { _, _ in .answer("next") }.serve(at: directory.socket) { _ in
      pause.open()
      let answer = try await read?.value
      #expect(answer == "next")
    }
  }

  @Test func aWriteThatWasNotRunIsSentToTheNextDaemon() async throws {
    let client = client
    var write: Task<JSON, any Error>?
    try await TestDaemon { _, _ in .refuse(Samples.shuttingDown) }.serve(at: directory.socket) { _ in
      write = Task { try await client.call("kind.write") }
      try await waitUntil("the client waits") { pause.arrivals == 1 }
    }
    try await TestDaemon { _, _ in .answer("next") }.serve(at: directory.socket) { daemon in
      pause.open()
      let answer = try await write?.value
      #expect(answer == "next")
      #expect(daemon.requests.count == 1)
    }
  }

  @Test func aWriteIsSentOnce() async throws {
    let client = client
    pause.open()
    try await TestDaemon { _, connection in
      connection.close()
      return .silence
    }.serve(at: directory.socket) { daemon in
      await #expect(throws: SDKClientError.outcomeUnknown(method: "kind.write", .connectionEnded)) {
        try await client.call("kind.write")
      }
      #expect(daemon.requests.count == 1)
    }
  }

  @Test func aWriteFindsTheNextDaemonBeforeItIsSent() async throws {
    let client = client
    try await TestDaemon { _, _ in .answer(1) }.serve(at: directory.socket) { daemon in
      let answer = try await client.call("kind.write")
      #expect(answer == 1)
    }
    let write = Task { try await client.call("kind.write") }
    try await waitUntil("the client waits") { pause.arrivals == 1 }
    try await TestDaemon { _, _ in .answer(2) }.serve(at: directory.socket) { _ in
      pause.open()
      let answer = try await write.value
      #expect(answer == 2)
    }
  }

  @Test func triesEnd() async throws {
    let options = ClientOptions(readRetry: RetrySchedule(limit: .milliseconds(30)), sleep: { _ in })
    let client = SDKClient(socket: .path(directory.socket), options: options)
    try await TestDaemon { _, _ in .answer(Samples.health) }.serve(at: directory.socket) { _ in
      _ = try await client.call(DaemonHealth.self)
    }
    await #expect(throws: SDKClientError.noDaemon(path: directory.socket)) { try await client.call(DaemonHealth.self) }
  }

  @Test func aRefusalIsNotTriedAgain() async throws {
    let client = client
    try await TestDaemon { _, _ in .refuse(Samples.accessDenied) }.serve(at: directory.socket) { daemon in
      await #expect(throws: SDKClientError.rpc(Samples.accessDenied)) { try await client.call("daemon.health") }
      #expect(daemon.requests.count == 1)
    }
    #expect(pause.arrivals == 0)
  }

  @Test func callsAtOnceShareAConnection() async throws {
    let client = client
    try await TestDaemon { request, _ in .answer(request.params ?? .null) }.serve(at: directory.socket) { daemon in
      try await withThrowingTaskGroup { group in
        for number in 0..<500 {
          group.addTask {
            let answer = try await client.call("echo", ["n": JSON(number)])
            #expect(answer == ["n": JSON(number)])
          }
        }
        try await group.waitForAll()
      }
      #expect(daemon.connections.count == 1)
    }
  }
}
