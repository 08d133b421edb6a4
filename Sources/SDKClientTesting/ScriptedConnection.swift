internal import Concurrency
internal import JSONRPCTransport
internal import SDKClient
internal import Synchronization

/// A client's connection to a scripted daemon.
final class ScriptedConnection: SDKConnection {
  let serverUid: UInt32
  let serverPid: Int32
  let notifications: AsyncThrowingStream<ServerNotification, any Error>
  /// The handler of the daemon's requests.
  let onRequest: ClientConnection.RequestHandler?
  private let daemon: ScriptedDaemon
  private let continuation: AsyncThrowingStream<ServerNotification, any Error>.Continuation
  private let end = Promise<Void>()

  init(daemon: ScriptedDaemon, serverUid: UInt32, serverPid: Int32, onRequest: ClientConnection.RequestHandler?) {
    self.daemon = daemon
    self.serverUid = serverUid
    self.serverPid = serverPid
    self.onRequest = onRequest
    (notifications, continuation) = AsyncThrowingStream.makeStream()
  }

  deinit { continuation.finish() }

  var isClosed: Bool { end.result != nil }

  func call(method: String, params: JSON?, timeout: Duration?) async throws -> JSON {
    guard !isClosed else { throw ClientConnectionError.notSent }
    return try await withThrowingTaskGroup { group in
      defer { group.cancelAll() }
      group.addTask { try await self.daemon.take(method, params ?? [:], from: self) }
      group.addTask {
        try await self.end.value()
        throw ClientConnectionError.closed
      }
      if let timeout {
        group.addTask {
          try await Task.sleep(for: timeout)
          throw ClientConnectionError.timeout
        }
      }
      guard let answer = try await group.next() else { throw ClientConnectionError.closed }
      return answer
    }
  }

  func notify(method: String, params: JSON) {
    continuation.yield(ServerNotification(method: method, params: params))
  }

  func close() {
    guard end.resolve(.success(())) else { return }
    continuation.finish()
    daemon.ended(self)
  }
}

/// A weak reference to a connection, so that the connection lives only as long as its client.
struct WeakConnection {
  weak var connection: ScriptedConnection?
}
