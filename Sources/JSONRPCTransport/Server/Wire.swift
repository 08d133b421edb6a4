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
}
