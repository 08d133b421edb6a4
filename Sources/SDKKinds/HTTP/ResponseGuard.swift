import NIOCore
import NIOHTTP1
import SDKInstances

/// A filter between the decoder and the HTTP client. It keeps responses from the client on which the client would trap,
/// and which a vendor can send.
///
/// A response that costs the event loop more than its content deserves ends the connection: informational heads without
/// end, a body in thousands of tiny parts, or many bytes that belong to no body. All vendors share the loop.
///
/// Informational heads other than 101 are dropped. Any other status outside 200 to 999 ends the connection, and so do
/// bytes after a complete response. That response then gets the header `Connection: close`, so that no request follows
/// on the connection.
final class ResponseGuard: ChannelDuplexHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias InboundOut = HTTPClientResponsePart
  typealias OutboundIn = HTTPClientRequestPart
  typealias OutboundOut = HTTPClientRequestPart

  private enum Response {
    case idle
    case responding
    case broken
  }

  /// The number of informational heads that a response may have before its own.
  private static let informationalHeads = 16
  /// The number of parts that any body may have. Longer bodies have one more for each `bytesOfPart`.
  private static let parts = 4096
  private static let bytesOfPart = 16

  private var informational = 0
  private var parts = 0
  private var bytes = 0

  private var phase = Response.idle
  /// The parts of the current round of reads, which are passed on when the round ends.
  private var held: [HTTPClientResponsePart] = []

  /// Adds a guard behind a channel's decoder. Must run on the channel's event loop.
  static func add(to channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
    try pipeline.addHandler(WireBudget(), position: .before(decoder))
    try pipeline.addHandler(ResponseGuard(), position: .after(decoder))
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .head = Self.unwrapOutboundIn(data), case .idle = phase {
      phase = .responding
      (informational, parts, bytes) = (0, 0, 0)
    }
    context.write(data, promise: promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = Self.unwrapInboundIn(data)
    switch (phase, part) {
    case (.broken, _): break
    case (.responding, .head(let head)) where (100..<200).contains(head.status.code) && head.status.code != 101:
      informational += 1
      if informational > Self.informationalHeads {
        refuse(context, HTTPFailure.network("the server sends informational answers without end"))
      }
    case (.responding, .head(let head)) where !(200...999).contains(head.status.code):
      refuse(context, HTTPFailure.network("the answer has the status \(head.status.code)"))
    case (.responding, .body(let buffer)) where !isInBudget(buffer.readableBytes):
      refuse(context, HTTPFailure.network("the server sends its answer in too many small parts"))
    case (.responding, _):
      held.append(part)
      if case .end = part { phase = .idle }
    case (.idle, _): refuse(context, HTTPFailure.network("the server sent an answer that nothing asked for"))
    }
  }

  /// Counts a part of a body. Returns whether the response may have it.
  private func isInBudget(_ count: Int) -> Bool {
    parts += 1
    bytes += count
    return parts <= Self.parts + bytes / Self.bytesOfPart
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    flush(context)
    context.fireChannelReadComplete()
  }

  func channelInactive(context: ChannelHandlerContext) {
    flush(context)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if case .broken = phase { return }
    refuse(context, error)
  }

  /// Ends the connection. Passes on a held response that is complete; otherwise the request fails with `error`.
  private func refuse(_ context: ChannelHandlerContext, _ error: any Error) {
    let isWhole = if case .end? = held.last { true } else { false }
    phase = .broken
    if isWhole, case .head(var head)? = held.first {
      head.headers.replaceOrAdd(name: "Connection", value: "close")
      held[0] = .head(head)
    }
    flush(context)
    if !isWhole { context.fireErrorCaught(error) }
    context.close(promise: nil)
  }

  private func flush(_ context: ChannelHandlerContext) {
    let parts = held
    held = []
    for part in parts { context.fireChannelRead(Self.wrapInboundOut(part)) }
  }
}

/// A counter of the bytes of a response before they are decoded. The limit on bodies does not count what is around
/// them, such as the extensions of chunks.
private final class WireBudget: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The number of bytes that a response may have in all, four times as many as its body may.
  private static let limit = 4 << 20

  private var bytes = 0

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    bytes = 0
    context.write(data, promise: promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard bytes <= Self.limit else { return }
    bytes += Self.unwrapInboundIn(data).readableBytes
    guard bytes > Self.limit else { return context.fireChannelRead(data) }
    context.fireErrorCaught(HTTPFailure.tooLarge)
    context.close(promise: nil)
  }
}
