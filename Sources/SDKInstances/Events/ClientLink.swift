public import JSONRPC

/// A client's connection, which carries notifications and the daemon's own requests.
public protocol ClientLink: AnyObject, Sendable {
  /// The peer at the other end.
  var peer: Peer { get }
  /// Sends one line, given without its newline. Never blocks: bytes that the peer does not read are buffered.
  func send(_ line: [UInt8])
  /// Sends a request to the peer and waits for its response. On timeout, or when the waiting task is cancelled, the
  /// peer gets `$/cancelRequest`.
  func request(method: String, params: JSON, timeout: Duration) async throws(PeerRequestError) -> JSON
  /// The number of bytes that are buffered because the peer does not read.
  var unsentBytes: Int { get }
  /// Waits until fewer than `bytes` bytes are unsent, or the connection has ended.
  func writable(below bytes: Int) async
  /// Whether the connection has ended.
  var isClosed: Bool { get }
}
