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

  func request(method: String, params: JSON, timeout: Duration) async throws(LinkRequestError) -> JSON {
    do throws(PeerRequestError) {
      return try await connection.request(method: method, params: params, timeout: timeout)
    } catch {
      switch error {
      case .refused(let refusal): throw .refused(refusal)
      case .timedOut: throw .timedOut
      case .closed: throw .closed
      case .cancelled: throw .cancelled
      }
    }
  }
}
