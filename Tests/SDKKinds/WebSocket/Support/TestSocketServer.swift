import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import Synchronization

/// A WebSocket server on loopback, at a port of its own.
final class TestSocketServer: Sendable {
  /// What it does with connections.
  enum Manner: Sendable {
    /// Upgrades, with these header fields.
    case upgrade([(String, String)])
    /// Answers the first bytes with these.
    case answer(String)
    /// Says nothing.
    case silence

    static let plain = Manner.upgrade([])
  }

  /// What the handlers share.
  final class Seen: Sendable {
    struct State {
      var peers: [TestPeer] = []
      var heads: [HTTPRequestHead] = []
      var connections = 0
      var ended = 0
    }
    let state = Mutex(State())
  }

  private let listener: any Channel
  private let seen: Seen

  private init(_ listener: any Channel, _ seen: Seen) {
    self.listener = listener
    self.seen = seen
  }

  deinit { listener.close(promise: nil) }

  /// A server that listens.
  static func start(
    _ manner: Manner = .plain, host: String = "127.0.0.1", tls: NIOSSLContext? = nil
  ) async throws -> TestSocketServer {
    let seen = Seen()
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        seen.state.withLock { $0.connections += 1 }
        channel.closeFuture.whenComplete { _ in seen.state.withLock { $0.ended += 1 } }
        return channel.eventLoop.makeCompletedFuture {
          if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
        }.flatMap { equip(channel, manner, seen) }
      }
      .bind(host: host, port: 0).get()
    return TestSocketServer(listener, seen)
  }

  private static func equip(_ channel: any Channel, _ manner: Manner, _ seen: Seen) -> EventLoopFuture<Void> {
    switch manner {
    case .silence: return channel.eventLoop.makeSucceededVoidFuture()
    case .answer(let text): return channel.pipeline.addHandler(Answering(text))
    case .upgrade(let headers):
      let upgrader = NIOWebSocketServerUpgrader(
        maxFrameSize: 1 << 24, automaticErrorHandling: false,
        shouldUpgrade: { channel, head in
          seen.state.withLock { $0.heads.append(head) }
          return channel.eventLoop.makeSucceededFuture(HTTPHeaders(headers))
        },
        upgradePipelineHandler: { channel, _ in
          let peer = TestPeer(channel)
          return channel.pipeline.addHandler(peer).map { seen.state.withLock { $0.peers.append(peer) } }
        })
      return channel.pipeline.configureHTTPServerPipeline(
        withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
    }
  }

  var port: Int { listener.localAddress?.port ?? 0 }
  var heads: [HTTPRequestHead] { seen.state.withLock { $0.heads } }
  var connections: Int { seen.state.withLock { $0.connections } }
  var ended: Int { seen.state.withLock { $0.ended } }

  /// The first peer.
  func peer() async throws -> TestPeer {
    try await SocketWait.until("a peer") { seen.state.withLock { $0.peers.first } }
  }

  /// Answers the first bytes with a text.
  private final class Answering: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let text: String
    init(_ text: String) { self.text = text }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }
  }
}
