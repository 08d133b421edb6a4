import NIOCore
import NIOWebSocket
import SDKInstances

/// A handler that requests the upgrade, checks the response, and adds the WebSocket's handlers behind itself.
///
/// Afterwards it leaves the pipeline.
final class UpgradeHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private enum Upgrade {
    case asking
    case upgraded
    case failed
  }

  private let request: UpgradeRequest
  private let limits: SocketLimits
  private let turn: Turn<LiveSocket>
  private var phase = Upgrade.asking
  private var reader = UpgradeAnswerReader()

  init(_ request: UpgradeRequest, limits: SocketLimits, turn: Turn<LiveSocket>) {
    self.request = request
    self.limits = limits
    self.turn = turn
  }

  func handlerAdded(context: ChannelHandlerContext) {
    context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: request.text)), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch phase {
    case .upgraded: context.fireChannelRead(data)
    case .failed: break
    case .asking:
      var bytes = Self.unwrapInboundIn(data)
      do throws(HTTPFailure) {
        guard let answer = try reader.read(&bytes) else { return }
        try request.check(answer)
        try upgrade(context, rest: bytes)
      } catch {
        fail(context, error)
      }
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail(context, .network("the connection ended before the upgrade"))
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if case .upgraded = phase { return context.fireErrorCaught(error) }
    fail(context, HTTPFailure(socket: error))
  }

  private func upgrade(_ context: ChannelHandlerContext, rest: ByteBuffer) throws(HTTPFailure) {
    let handler = SocketHandler(limits: limits)
    do {
      try context.pipeline.syncOperations.addHandlers(
        WebSocketFrameEncoder(), ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: limits.message)), handler,
        position: .after(self))
    } catch {
      throw .network("the connection ended in the upgrade")
    }
    phase = .upgraded
    let socket = LiveSocket(context.channel, NIOLoopBound(handler, eventLoop: context.eventLoop))
    // When the attempt is over already, the socket is released, which closes the connection.
    guard turn.resolve(.success(socket)) else { return }
    if rest.readableBytes > 0 {
      context.fireChannelRead(Self.wrapInboundOut(rest))
      context.fireChannelReadComplete()
    }
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
  }

  private func fail(_ context: ChannelHandlerContext, _ failure: HTTPFailure) {
    guard case .asking = phase else { return }
    phase = .failed
    turn.resolve(.failure(failure))
    context.close(promise: nil)
  }
}
