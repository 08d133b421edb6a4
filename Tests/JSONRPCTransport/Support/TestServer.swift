import JSONRPC
import NIOPosix

@testable import JSONRPCTransport

/// A listener in a directory of its own, for the duration of a test.
struct TestServer {
  let path: String
  let program: TestProgram
  let listener: Listener

  func peer(_ framing: Framing = .lines) async throws -> RawPeer { try await RawPeer(path, framing: framing) }

  func client(
    _ settings: ClientSettings = ClientSettings(), onRequest: ClientConnection.RequestHandler? = nil
  ) async throws -> ClientConnection {
    try await ClientConnection.connect(path: path, settings: settings, onRequest: onRequest)
  }
}

/// Runs `body` with a server. Then drains the listener without grace and waits for its end.
func withServer(
  limits: TransportLimits = TransportLimits(), admit: @escaping Listener.Admission = { _ in .admitted(nil) },
  _ body: (TestServer) async throws -> Void
) async throws {
  let directory = try TestDirectory()
  let path = directory("s")
  let listener = try Listener.bind(path: path, mode: 0o600)
  let program = TestProgram()
  let settings = ConnectionSettings(limits: limits) { $0 == "echo" }
  try await withThrowingTaskGroup { group in
    group.addTask {
      try await listener.run(
        on: MultiThreadedEventLoopGroup.singleton, settings: settings, admit: admit, makeHandler: program.makeHandler)
    }
    let result: Result<Void, any Error>
    do { result = .success(try await body(TestServer(path: path, program: program, listener: listener))) } catch {
      result = .failure(error)
    }
    program.gate.open()
    listener.drain(grace: .zero)
    try await group.waitForAll()
    try result.get()
  }
  withExtendedLifetime(directory) {}
}
