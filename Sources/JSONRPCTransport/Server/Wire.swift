internal import NIOCore

/// What carries a connection's bytes: a channel, or memory in tests. Used on the connection's event loop only.
protocol Wire: AnyObject {
  /// Sends whole lines, and tells the core by `sent` when the peer's system has them.
  func send(_ lines: ByteBuffer)
  /// Lets the peer send nothing more. What it has sent already is still delivered, then the input ends.
  func endInput()
  /// Ends the connection.
  func close()
}
