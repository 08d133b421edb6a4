public import NIOCore

/// Stops accepting for a moment when the process can't take a connection, for want of descriptors or memory.
///
/// NIO's `AcceptBackoffHandler` withholds the next read only: when the failed one got no connection at all, the
/// channel stays registered for it, and the event loop spins. Switching `autoRead` off takes it out of epoll.
public final class AcceptPauseHandler: ChannelInboundHandler {
  public typealias InboundIn = Channel

  private let mayGoOn: @Sendable () -> Bool
  private var isPausing = false

  /// Connections that end in the meantime make room.
  static let pause = TimeAmount.milliseconds(100)

  /// - Parameter mayGoOn: asked at the end of a pause; false when accepting was stopped for good.
  public init(mayGoOn: @escaping @Sendable () -> Bool) { self.mayGoOn = mayGoOn }

  /// Errors end here: one of a connection that did not come about is no reason to close the listening socket.
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
