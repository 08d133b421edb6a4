import NIOCore
import NIOEmbedded

/// A handler in place of the kernel. It counts the channel's reads, and takes its writes, holds them up or fails them.
final class ChannelWrites: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer

  /// Whether the bytes are held up, as if the peer did not read.
  var holds: Bool
  /// Whether writes fail and close the channel, as after the peer has closed the connection.
  var fails = false
  private(set) var reads = 0
  private(set) var held: [EventLoopPromise<Void>?] = []
  private var channel: EmbeddedChannel?

  init(holds: Bool = false) { self.holds = holds }

  func handlerAdded(context: ChannelHandlerContext) { channel = context.channel as? EmbeddedChannel }
  func handlerRemoved(context: ChannelHandlerContext) { channel = nil }

  func read(context: ChannelHandlerContext) { reads += 1 }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if fails {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return context.close(promise: nil)
    }
    held.append(promise)
    become(writable: false)
    if !holds { release() }
  }

  /// Takes all held bytes.
  func release() {
    let all = held
    held = []
    for promise in all { promise?.succeed(()) }
    if held.isEmpty { become(writable: true) }
  }

  /// Takes the bytes of the first write that is held up.
  func releaseFirst() {
    held.removeFirst()?.succeed(())
    if held.isEmpty { become(writable: true) }
  }

  /// Changes the channel as NIO does when it is writable only while it holds no bytes.
  private func become(writable: Bool) {
    guard let channel, channel.isWritable != writable else { return }
    channel.isWritable = writable
    channel.pipeline.fireChannelWritabilityChanged()
  }
}
