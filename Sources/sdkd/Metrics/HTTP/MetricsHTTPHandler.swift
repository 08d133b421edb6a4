import NIOCore
import NIOHTTP1
import OpenMetrics

/// A handler that responds to the first request of a connection and closes it.
final class MetricsHTTPHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let address: ListenAddress
  private let source: MetricsListener.Source
  private var head: HTTPRequestHead?
  private var isAnswered = false
  private var body = 0

  /// The longest body of a request, in bytes. A request needs no body, so a longer one closes the connection.
  private static let maximumBody = 16 << 10

  /// Makes a handler of connections to an address.
  init(address: ListenAddress, source: @escaping MetricsListener.Source) {
    self.address = address
    self.source = source
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isAnswered else { return }
    switch Self.unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body(let bytes):
      body += bytes.readableBytes
      if body > Self.maximumBody { context.close(promise: nil) }
    case .end:
      guard let head else { return context.close(promise: nil) }
      isAnswered = true
      answer(head, context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    guard isMeant(by: head) else {
      let text = "The Host of the request is not this machine. Use localhost or the address of [metrics] listen.\n"
      return write(.misdirectedRequest, "text/plain; charset=utf-8", text, to: head, context)
    }
    let status = Self.status(method: head.method, uri: head.uri)
    guard status == .ok else {
      let text = status == .notFound ? "The metrics are at /metrics.\n" : "Only GET and HEAD.\n"
      return write(status, "text/plain; charset=utf-8", text, to: head, context)
    }
    let home = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    let eventLoop = context.eventLoop
    let format = MetricsFormat(accept: head.headers[canonicalForm: "accept"])
    source(format) { text in
      eventLoop.execute {
        let (handler, context) = home.value
        guard context.channel.isActive else { return }
        handler.write(.ok, format.contentType, text, to: head, context)
      }
    }
  }

  /// Whether the request names this address. One of HTTP/1.0 need not name any.
  private func isMeant(by head: HTTPRequestHead) -> Bool {
    let hosts = head.headers["host"]
    guard let host = hosts.first else { return head.version.minor == 0 }
    return hosts.count == 1 && address.isMeant(byHost: host)
  }

  private func write(
    _ status: HTTPResponseStatus, _ contentType: String, _ text: String, to request: HTTPRequestHead,
    _ context: ChannelHandlerContext
  ) {
    let body = ByteBuffer(string: text)
    var headers = HTTPHeaders([
      ("connection", "close"), ("cache-control", "no-store"), ("content-type", contentType),
      ("content-length", "\(body.readableBytes)"),
    ])
    if status == .methodNotAllowed { headers.add(name: "allow", value: "GET, HEAD") }
    let head = HTTPResponseHead(version: request.version, status: status, headers: headers)
    context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
    if request.method != .HEAD { context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
    let home = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.writeAndFlush(Self.wrapOutboundOut(.end(nil))).whenComplete { _ in home.value.close(promise: nil) }
  }

  /// Returns the status of the response to a request.
  static func status(method: HTTPMethod, uri: String) -> HTTPResponseStatus {
    guard uri.prefix(while: { $0 != "?" }) == "/metrics" else { return .notFound }
    return method == .GET || method == .HEAD ? .ok : .methodNotAllowed
  }
}
