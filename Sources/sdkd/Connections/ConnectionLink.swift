import JSONRPCTransport
import SDKInstances

/// A connection as the domain sees it.
final class ConnectionLink: ClientLink {
  private let connection: Connection
  let peer: Peer

  init(_ connection: Connection) {
    self.connection = connection
    let credentials = connection.peer
    // Without a pinned pid a peer has no unit: its number may belong to another process by now.
    peer = Peer(pid: credentials.pid, uid: credentials.uid, gid: credentials.gid, groups: credentials.groups)
  }

  var unsentBytes: Int { connection.outboundBytes }
  var isClosed: Bool { connection.isClosed }
  func send(_ line: [UInt8]) { connection.notify(text: line) }
}
