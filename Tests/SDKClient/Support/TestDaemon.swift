import Glibc
import JSONRPC
import JSONRPCTransport
import NIOPosix
import SDKProtocol
import Synchronization

/// A small daemon on a real socket that responds as the test specifies, and records its requests.
final class TestDaemon: Sendable {
  typealias Behaviour = @Sendable (RPCRequest, Connection) -> Acceptance

  private struct Seen {
    var requests: [RPCRequest] = []
    var connections: [Connection] = []
  }

  private let seen = Mutex(Seen())
  private let behaviour: Behaviour

  init(_ behaviour: @escaping Behaviour) { self.behaviour = behaviour }

  /// The received requests, in order.
  var requests: [RPCRequest] { seen.withLock { $0.requests } }
  var methods: [String] { requests.map(\.method) }
  var connections: [Connection] { seen.withLock { $0.connections } }

  /// Listens at `path` while `body` runs, then stops without a grace period.
  func serve(at path: String, _ body: (TestDaemon) async throws -> Void) async throws {
    let listener = try Listener.bind(path: path, mode: 0o600)
    try await withThrowingTaskGroup { group in
      group.addTask {
        try await listener.run(on: MultiThreadedEventLoopGroup.singleton) { connection in
          self.seen.withLock { $0.connections.append(connection) }
          return Handler(daemon: self, connection: connection)
        }
      }
      let result: Result<Void, any Error>
      do { result = .success(try await body(self)) } catch { result = .failure(error) }
      listener.drain(grace: .zero)
      try await group.waitForAll()
      try result.get()
    }
  }

  private final class Handler: ConnectionHandler {
    let daemon: TestDaemon
    let connection: Connection

    init(daemon: TestDaemon, connection: Connection) {
      self.daemon = daemon
      self.connection = connection
    }

    func accept(_ request: RPCRequest) -> Acceptance {
      daemon.seen.withLock { $0.requests.append(request) }
      return daemon.behaviour(request, connection)
    }

    func receive(notification: RPCRequest) -> (any AcceptedCall)? { nil }
    func closed() {}
  }
}

extension Acceptance {
  /// Returns a call's immediate success.
  static func answer(_ json: JSON) -> Acceptance { .reply(.success(JSONWriter.bytes(of: json))) }

  /// Returns a call's immediate failure.
  static func refuse(_ error: RPCError) -> Acceptance { .reply(.failure(error)) }

  /// A call that gets no response as long as its connection lasts.
  static var silence: Acceptance { .run(Silence()) }
}

/// A call that runs until it is cancelled.
private final class Silence: AcceptedCall {
  func run() async -> Result<[UInt8], RPCError> {
    let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    for await _ in stream {}
    continuation.finish()
    return .failure(.cancelled)
  }

  func abandon() {}
}
