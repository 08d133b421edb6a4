internal import Glibc
internal import JSONRPC
internal import NIOCore
internal import Synchronization

/// A channel handler that sends a refused connection its error, and closes it.
final class RefusalHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The number of refused connections that are still open.
  final class Count: Sendable {
    let value = Atomic<Int>(0)
  }

  private let error: RPCError
  private let count: Count
  private var isCounted = false

  /// The time in which the peer can read the error. The connection closes earlier if the peer sends anything.
  private static let lingering = TimeAmount.milliseconds(500)
  /// The number of refused connections that may stay open for `lingering`. Further ones are closed immediately, so that
  /// they don't use up the descriptors.
  private static let maximumLingering: Int = {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 64 }
    return min(64, Int(clamping: limit.rlim_cur) / 16)
  }()

  init(error: RPCError, count: Count) {
    self.error = error
    self.count = count
  }

  func channelActive(context: ChannelHandlerContext) {
    isCounted = true
    let lingers = count.value.add(1, ordering: .relaxed).newValue <= Self.maximumLingering
    // The peer has chosen no framing yet.
    var line = ByteBuffer()
    line.writeMessage(.lines) { $0.writeResponse(id: .null, .failure(error)) }
    context.writeAndFlush(Self.wrapOutboundOut(line), promise: nil)
    guard lingers else { return context.close(promise: nil) }
    context.close(mode: .output, promise: nil)
    let home = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: Self.lingering) { home.value.close(promise: nil) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    if isCounted { count.value.subtract(1, ordering: .relaxed) }
    isCounted = false
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

  func channelReadComplete(context: ChannelHandlerContext) { context.close(promise: nil) }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
