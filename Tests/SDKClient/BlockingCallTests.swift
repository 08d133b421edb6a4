import Glibc
import JSONRPCTransport
import Linux
import SDKClient
import Testing

/// Calls that block the calling thread. The tests use a thread of their own, since the pool has few.
struct BlockingCallTests {
  private let directory: TestDirectory
  private let thread = ThreadExecutor()

  init() throws { directory = try TestDirectory() }

  private func client(_ options: ClientOptions = ClientOptions(callsBlock: true)) -> SDKClient {
    SDKClient(socket: .path(directory.socket), options: options)
  }

  @Test func eachCallHasItsConnection() async throws {
    try await TestDaemon { request, _ in .answer(.string(request.method)) }.serve(at: directory.socket) { daemon in
      let client = client()
      let answers = try await withTaskExecutorPreference(thread) {
        [try await client.call("a"), try await client.call("b")]
      }
      #expect(answers == ["a", "b"])
      #expect(daemon.connections.count == 2)
    }
  }

  @Test func errorsAreTheSame() async throws {
    let client = client()
    await #expect(throws: SDKClientError.noDaemon(path: directory.socket)) { try await client.call("daemon.health") }
    try await TestDaemon { _, _ in .refuse(Samples.accessDenied) }.serve(at: directory.socket) { daemon in
      let strict = self.client(ClientOptions(trust: ServerTrust { _ in false }, callsBlock: true))
      await withTaskExecutorPreference(thread) {
        await #expect(throws: SDKClientError.rpc(Samples.accessDenied)) { try await client.call("x") }
        let refused = await #expect(throws: SDKClientError.self) { try await strict.call("x") }
        #expect(refused?.reason == "untrustedServer")
      }
      #expect(daemon.requests.count == 1)
    }
  }

  @Test func whatWasNotRunIsTriedAgain() async throws {
    let schedule = RetrySchedule(first: .seconds(1), longest: .seconds(1), limit: .seconds(3))
    let client = client(ClientOptions(readRetry: schedule, callsBlock: true, sleep: { _ in }, random: { 1 }))
    try await TestDaemon { _, _ in .refuse(Samples.shuttingDown) }.serve(at: directory.socket) { daemon in
      await withTaskExecutorPreference(thread) {
        for (name, sum) in [("kind.write", 4), ("daemon.health", 8)] {
          await #expect(throws: SDKClientError.rpc(Samples.shuttingDown)) { try await client.call(name) }
          #expect(daemon.requests.count == sum)
        }
      }
    }
  }

  @Test func aWriteThatTheDaemonReadsNoMoreIsTriedAgain() async throws {
    let listening = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    let address = try #require(UnixAddress(path: directory.socket))
    #expect(address.withPointer { bind(listening, $0, $1) } == 0 && listen(listening, 1) == 0)
    // Between the connection and the call the daemon is gone, as in a restart.
    let trust = ServerTrust { [socket = directory.socket] _ in
      close(accept(listening, nil, nil))
      close(listening)
      unlink(socket)
      return true
    }
    let schedule = RetrySchedule(first: .seconds(1), longest: .seconds(1), limit: .seconds(3))
    let client = client(
      ClientOptions(trust: trust, readRetry: schedule, callsBlock: true, sleep: { _ in }, random: { 1 }))
    _ = await withTaskExecutorPreference(thread) {
      await #expect(throws: SDKClientError.noDaemon(path: directory.socket)) { try await client.call("kind.write") }
    }
  }

  @Test func aWriteThatIsNotAnsweredIsSentOnce() async throws {
    let client = client(ClientOptions(callsBlock: true, sleep: { _ in }))
    try await TestDaemon { _, connection in
      connection.close()
      return .silence
    }.serve(at: directory.socket) { daemon in
      _ = await withTaskExecutorPreference(thread) {
        await #expect(throws: SDKClientError.outcomeUnknown(method: "kind.write", .connectionEnded)) {
          try await client.call("kind.write")
        }
      }
      #expect(daemon.requests.count == 1)
    }
  }
}
