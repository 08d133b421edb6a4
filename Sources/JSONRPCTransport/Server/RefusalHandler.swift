internal import JSONRPC
internal import NIOCore

/// Tells a connection that there is no room for it, and closes it.
final class RefusalHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let error: RPCError
  private var isClosed = false

  /// How long the peer has to read why. The first thing that it sends ends it sooner.
  private static let lingering = TimeAmount.milliseconds(500)

  init(error: RPCError) { self.error = error }

  func channelActive(context: ChannelHandlerContext) {
    var line = ByteBuffer()
    line.writeResponse(id: .null, .failure(error))
    line.writeInteger(UInt8(ascii: "\n"))
    context.writeAndFlush(Self.wrapOutboundOut(line), promise: nil)
    context.close(mode: .output, promise: nil)
    let home = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: Self.lingering) { home.value.close(promise: nil) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

  func channelReadComplete(context: ChannelHandlerContext) { context.close(promise: nil) }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
