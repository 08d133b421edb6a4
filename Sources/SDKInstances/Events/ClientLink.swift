public import JSONRPC

/// A connection as the domain sees it: where notifications and the daemon's own requests go.
public protocol ClientLink: AnyObject, Sendable {
  /// Who is at the other end.
  var peer: Peer { get }
  /// Sends one line, without its newline. Never blocks; what the peer doesn't read waits.
  func send(_ line: [UInt8])
  /// Asks the peer and waits for its answer. When the time is over or the waiting task is cancelled, the peer gets
  /// `$/cancelRequest`.
  func request(method: String, params: JSON, timeout: Duration) async throws(LinkRequestError) -> JSON
  /// How many bytes wait because the peer doesn't read.
  var unsentBytes: Int { get }
  /// Waits until fewer bytes than these are unsent, or the connection has ended.
  func writable(below bytes: Int) async
  /// Whether it has ended.
  var isClosed: Bool { get }
}

/// Why a request to a client has no result.
public enum LinkRequestError: Error, Sendable, Hashable {
  /// The client answered with an error.
  case refused(RPCError)
  /// No answer in time.
  case timedOut
  /// The connection has ended.
  case closed
  /// The waiting task was cancelled.
  case cancelled
}
