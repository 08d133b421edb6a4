import NIOCore
import NIOPosix
import Synchronization

/// A proxy on loopback. It answers `CONNECT` with 200 and connects to the named port of this machine, whatever the host.
final class TestProxy: Sendable {
  private let listener: any Channel
  private let seen: Seen

  final class Seen: Sendable { let heads = Mutex<[String]>([]) }

  private init(_ listener: any Channel, _ seen: Seen) {
    self.listener = listener
    self.seen = seen
  }

  deinit { listener.close(promise: nil) }

  static func start() async throws -> TestProxy {
    let seen = Seen()
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Accepting(seen)) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return TestProxy(listener, seen)
  }

  var port: Int { listener.localAddress?.port ?? 0 }
  /// The heads of all requests.
  var heads: [String] { seen.heads.withLock { $0 } }

  /// A handler that reads the request, and then passes all bytes on to the server.
  private final class Accepting: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let seen: Seen
    private var head = ""
    private var waiting: [ByteBuffer] = []
    private var server: (any Channel)?
    private var isAccepted = false

    init(_ seen: Seen) { self.seen = seen }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = Self.unwrapInboundIn(data)
      if let server { return server.writeAndFlush(bytes, promise: nil) }
      if isAccepted { return waiting.append(bytes) }
      head += String(buffer: bytes)
      guard head.hasSuffix("\r\n\r\n") else { return }
      isAccepted = true
      seen.heads.withLock { $0.append(head) }
      let port = head.split(separator: " ").dropFirst().first?.split(separator: ":").last.flatMap { Int($0) } ?? 0
      let home = NIOLoopBound(self, eventLoop: context.eventLoop)
      let client = context.channel
      ClientBootstrap(group: context.eventLoop)
        .channelInitializer { server in
          server.eventLoop.makeCompletedFuture { try server.pipeline.syncOperations.addHandler(Returning(client)) }
        }
        .connect(host: "127.0.0.1", port: port).whenComplete { result in
          guard case .success(let server) = result else {
            let refusal = ByteBuffer(string: "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            return client.writeAndFlush(refusal, promise: nil)
          }
          home.value.server = server
          client.writeAndFlush(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n"), promise: nil)
          for bytes in home.value.waiting { server.writeAndFlush(bytes, promise: nil) }
        }
    }

    func channelInactive(context: ChannelHandlerContext) { server?.close(promise: nil) }
  }

  /// A handler that passes the server's bytes back.
  private final class Returning: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let client: any Channel

    init(_ client: any Channel) { self.client = client }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      client.writeAndFlush(Self.unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { client.close(promise: nil) }
  }
}
