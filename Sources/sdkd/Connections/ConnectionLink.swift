import JSONRPC
import JSONRPCTransport
import SDKInstances

/// A connection, as the interface that the domain uses.
final class ConnectionLink: ClientLink {
  private let connection: Connection
  let peer: Peer

  init(_ connection: Connection) {
    self.connection = connection
    peer = Peer(connection.peer)
  }

  var unsentBytes: Int { connection.outboundBytes }
  var isClosed: Bool { connection.isClosed }
  func send(_ line: [UInt8]) { connection.notify(text: line) }

  func writable(below bytes: Int) async {
    await withCheckedContinuation { continuation in
      connection.whenWritable(below: bytes) { continuation.resume() }
    }
  }

  func request(method: String, params: JSON, timeout: Duration) async throws(PeerRequestError) -> JSON {
    try await connection.request(method: method, params: params, timeout: timeout)
  }
}

/// A connection handler that passes requests to the gateway.
final class ControlHandler: ConnectionHandler {
  private let gateway: Gateway
  private let session: ClientSession
  private let onClose: @Sendable () -> Void

  init(_ connection: Connection, gateway: Gateway, onClose: @escaping @Sendable () -> Void) {
    self.gateway = gateway
    self.onClose = onClose
    session = ClientSession(link: ConnectionLink(connection))
  }

  func prepare(_ request: RPCRequest) -> RPCRequest { gateway.prepare(request) }

  func accept(_ request: RPCRequest) -> Acceptance { gateway.accept(request, session: session) }

  func refused(_ request: RPCRequest, with error: RPCError) { gateway.refused(request, error, by: session) }

  func receive(notification method: String, params: JSON?) {
    // Ignored: a notification other than a cancellation has no effect and gets no response.
  }

  func closed() {
    onClose()
    gateway.ended(session)
  }
}
