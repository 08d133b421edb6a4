internal import JSONRPC
internal import JSONRPCTransport
internal import Synchronization

/// Keeps the questions of a server away from whoever answers until the server is trusted.
final class TrustGate: Sendable {
  private let isOpen = Atomic(false)

  /// From now on questions come through.
  func open() { isOpen.store(true, ordering: .releasing) }

  /// The handler behind this gate.
  func guarding(_ handler: @escaping ClientConnection.RequestHandler) -> ClientConnection.RequestHandler {
    { [self] method, params async throws(RPCError) in
      guard isOpen.load(ordering: .acquiring) else { throw .methodNotFound(method, nearest: nil) }
      return try await handler(method, params)
    }
  }
}
