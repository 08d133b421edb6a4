import NIOCore

/// The turns of a connection on the event loop that all vendors share: one read of a few KiB, and then the others'.
enum ConnectionTurns {
  /// The number of bytes that one read takes at most.
  static let bytes = 16 << 10

  /// Limits the reads of a channel.
  static func limit(_ channel: any Channel) -> EventLoopFuture<Void> {
    channel.setOption(.maxMessagesPerRead, value: 1).flatMap {
      channel.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: bytes))
    }
  }
}
