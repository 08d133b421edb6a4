import NIOCore
import SDKInstances
import SDKProtocol

/// A handler that requests a tunnel from a proxy, and leaves the pipeline when it is open.
final class TunnelHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let tunnel: Tunnel
  private let opened: EventLoopPromise<Void>
  private var reader = UpgradeAnswerReader()
  private var timer: Scheduled<Void>?
  private var isOver = false

  private init(_ tunnel: Tunnel, _ opened: EventLoopPromise<Void>) {
    self.tunnel = tunnel
    self.opened = opened
  }

  /// Opens a tunnel on a connection to its proxy. Closes the connection when that fails. Must be called on the event
  /// loop of the channel.
  static func open(
    _ tunnel: Tunnel, on channel: any Channel, until deadline: NIODeadline
  ) -> EventLoopFuture<any Channel> {
    let opened = channel.eventLoop.makePromise(of: Void.self)
    let handler = TunnelHandler(tunnel, opened)
    do {
      try channel.pipeline.syncOperations.addHandler(handler)
    } catch {
      opened.fail(tunnel.failure("ended the connection"))
    }
    let home = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    handler.timer = channel.eventLoop.scheduleTask(deadline: deadline) { home.value.end(.failure(tunnel.timeout)) }
    opened.futureResult.whenFailure { _ in channel.close(promise: nil) }
    return opened.futureResult.map { channel }
  }

  func handlerAdded(context: ChannelHandlerContext) {
    var text = "CONNECT \(tunnel.target) HTTP/1.1\r\nHost: \(tunnel.target)\r\n"
    if let credentials = tunnel.credentials {
      text += "Proxy-Authorization: Basic \(credentials.reveal())\r\n"
    }
    context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: text + "\r\n")), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOver else { return }
    var bytes = Self.unwrapInboundIn(data)
    do throws(HTTPFailure) {
      if let answer = try reader.read(&bytes) { end(conclude(answer, rest: bytes, context)) }
    } catch {
      end(.failure(tunnel.failure("answered CONNECT with something that is not HTTP; check that it is an HTTP proxy")))
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    end(.failure(tunnel.failure("ended the connection without an answer; check that it is an HTTP proxy")))
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard !isOver else { return context.fireErrorCaught(error) }
    end(.failure(tunnel.failure(connecting: error)))
  }

  private func conclude(
    _ answer: UpgradeAnswer, rest: ByteBuffer, _ context: ChannelHandlerContext
  ) -> Result<Void, HTTPFailure> {
    guard (200..<300).contains(answer.status) else { return .failure(tunnel.failure(status: answer.status)) }
    // In TLS the client speaks first.
    guard rest.readableBytes == 0 else {
      return .failure(tunnel.failure("sent data before the server could; check that it is an HTTP proxy"))
    }
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    return .success(())
  }

  private func end(_ outcome: Result<Void, HTTPFailure>) {
    guard !isOver else { return }
    isOver = true
    timer?.cancel()
    timer = nil
    opened.completeWith(outcome.mapError { $0 as any Error })
  }
}
