internal import Glibc
internal import JSONRPC
public import NIOCore
internal import Synchronization

/// A channel handler that pauses accepting when the process lacks the descriptors or memory for a connection.
///
/// NIO's `AcceptBackoffHandler` withholds the next read only. If the failed read got no connection at all, the channel
/// stays registered for it, and the event loop spins. Switching `autoRead` off removes it from epoll.
public final class AcceptPauseHandler: ChannelInboundHandler {
  public typealias InboundIn = Channel

  private let mayGoOn: @Sendable () -> Bool
  private var isPausing = false

  /// The length of a pause. Connections that end meanwhile free descriptors.
  static let pause = TimeAmount.milliseconds(100)

  /// Makes a handler that does not pause yet.
  ///
  /// - Parameter mayGoOn: called at the end of a pause; returns false if accepting was stopped for good.
  public init(mayGoOn: @escaping @Sendable () -> Bool) { self.mayGoOn = mayGoOn }

  /// Handles errors without passing them on: a connection that failed is no reason to close the listening socket.
  public func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard error is IOError, !isPausing else { return }
    isPausing = true
    setReading(false, context)
    let home = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: Self.pause) {
      let (handler, context) = home.value
      handler.isPausing = false
      if handler.mayGoOn() { handler.setReading(true, context) }
    }
  }

  private func setReading(_ isReading: Bool, _ context: ChannelHandlerContext) {
    try? context.channel.syncOptions?.setOption(.autoRead, value: isReading)
  }
}

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

  /// The time for which a refused connection stays open so that the peer can read the error. It closes earlier if the
  /// peer sends anything.
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
