public import NIOCore

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
