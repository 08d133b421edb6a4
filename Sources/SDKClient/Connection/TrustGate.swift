internal import JSONRPC
internal import JSONRPCTransport
internal import Synchronization

/// A gate that rejects a server's requests until the server is trusted.
final class TrustGate: Sendable {
  private let isOpen = Atomic(false)

  /// Opens the gate: later requests reach the handler.
  func open() { isOpen.store(true, ordering: .releasing) }

  /// Returns a handler that passes requests to `handler`, but throws `methodNotFound` until the gate is open.
  func guarding(_ handler: @escaping ClientConnection.RequestHandler) -> ClientConnection.RequestHandler {
    { [self] method, params async throws(RPCError) in
      guard isOpen.load(ordering: .acquiring) else { throw .methodNotFound(method, nearest: nil) }
      return try await handler(method, params)
    }
  }
}
