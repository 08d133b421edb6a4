internal import NIOCore

/// The carrier of a connection's bytes: a channel, or memory in tests. Used on the connection's event loop only.
protocol Wire: AnyObject {
  /// Sends whole messages. Calls the core's `sent` when the peer's system has them.
  func send(_ messages: ByteBuffer)
  /// Ends the input. Bytes that the peer has sent already are still delivered.
  func endInput()
  /// Ends the connection. A peer that still sends can read an error first.
  func close()
  /// Ends the connection at once.
  func abort()
  /// Takes the socket out of the wire, which ends without closing the connection. Returns `nil` if the peer has ended
  /// it, or if it can't be continued elsewhere.
  func detach() -> DetachedWire?
}

extension Wire {
  /// Returns `nil`.
  func detach() -> DetachedWire? { nil }
}

/// A connected socket without its wire.
struct DetachedWire {
  /// The socket, which the receiver must close.
  let descriptor: CInt
  /// The bytes that have arrived and are not handled yet.
  let input: [UInt8]
  /// The bytes that the kernel has not taken yet.
  let unsent: ByteBuffer
}
