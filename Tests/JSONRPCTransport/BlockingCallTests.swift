import Glibc
import JSONRPC
import JSONRPCTransport
import Testing

struct BlockingCallTests {
  private struct Untrusted: Error {}

  /// Makes a blocking call on a thread of its own, since Swift's task pool has few threads.
  private func call(
    _ path: String, _ method: String, _ params: JSON? = nil, timeout: Duration = .seconds(20),
    checkServer: @escaping @Sendable (UInt32, Int32) throws -> Void = { _, _ in }
  ) async throws -> JSON {
    try await withCheckedThrowingContinuation { continuation in
      let body = Body {
        continuation.resume(
          with: Result {
            try BlockingCall.run(
              path: path, method: method, params: params, timeout: timeout, checkServer: checkServer)
          })
      }
      var thread = pthread_t()
      let status = pthread_create(
        &thread, nil,
        { argument in
          if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
          return nil
        }, Unmanaged.passRetained(body).toOpaque())
      #expect(status == 0)
      pthread_detach(thread)
    }
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  @Test func callsAndErrors() async throws {
    try await withServer { server in
      let text = JSON(String(repeating: "é", count: 200_000))
      let answer = try await call(server.path, "echo", ["t": text]) { uid, pid in
        #expect(uid == getuid() && pid == getpid())
      }
      #expect(answer["t"] == text)
      await #expect(throws: RPCError.methodNotFound("x", nearest: nil)) { try await call(server.path, "x") }
      await #expect(throws: ClientConnectionError.timeout) {
        try await call(server.path, "slow", timeout: .milliseconds(20))
      }
      await #expect(throws: ClientConnectionError.notRunning(path: "/nowhere")) { try await call("/nowhere", "x") }
    }
  }

  @Test func sendsNothingToAServerThatIsNotTrusted() async throws {
    try await withServer { server in
      await #expect(throws: Untrusted.self) {
        try await call(server.path, "echo") { _, _ in throw Untrusted() }
      }
      try await waitUntil("closed") { server.program.seen.closed == 1 }
      #expect(server.program.seen.accepted.isEmpty)
    }
  }

  @Test func passesOnWhyItWasRefused() async throws {
    let error = RPCError(code: -32050, reason: "rateLimit", retryable: true, message: "Too many connections.")
    try await withServer(admit: { _ in .refused(error) }) { server in
      await #expect(throws: error) { try await call(server.path, "echo") }
    }
  }
}
