/// A connection as the domain sees it: where notifications go.
public protocol ClientLink: AnyObject, Sendable {
  /// Who is at the other end.
  var peer: Peer { get }
  /// Sends one line, without its newline. Never blocks; what the peer doesn't read waits.
  func send(_ line: [UInt8])
  /// How many bytes wait because the peer doesn't read.
  var unsentBytes: Int { get }
  /// Whether it has ended.
  var isClosed: Bool { get }
}
