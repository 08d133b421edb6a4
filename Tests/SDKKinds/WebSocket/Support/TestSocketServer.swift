import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import Synchronization

/// A WebSocket server on loopback, with a port of its own.
final class TestSocketServer: Sendable {
  /// The behaviour of the server towards its connections.
  enum Manner: Sendable {
    /// An upgrade with these additional header fields.
    case upgrade([(String, String)])
    /// This text as the response to each read.
    case answer(String)
    /// This text as the response to each read that does not contain the second one.
    case answerUnless(String, String)
    /// The first text as the response to the first read, and then the second text every 100 ms without end: few enough to stay below any budget
    /// until a deadline, also where that comes late.
    case trickle(String, String)
    /// The next of these texts as the response to each read; the last one is repeated.
    case answers([String])
    /// This text as the response to the first read of a connection, and the end of the connection at the second;
    /// without a text, the end at the first.
    case once(String?)
    /// No response.
    case silence

    static let plain = Manner.upgrade([])
  }

  /// The state that the server shares with its handlers.
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

  /// Starts a server.
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
    case .answer(let text): return equip(channel, Answering([text]))
    case .answerUnless(let text, let silent): return equip(channel, Answering([text], silentAt: silent))
    case .answers(let texts): return equip(channel, Answering(texts))
    case .once(let text): return equip(channel, Answering([text].compactMap { $0 }, closesAfterwards: true))
    case .trickle(let head, let rest): return equip(channel, Trickling(head, rest))
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

  private static func equip(_ channel: any Channel, _ handler: any ChannelHandler) -> EventLoopFuture<Void> {
    channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(handler) }
  }

  var port: Int { listener.localAddress?.port ?? 0 }
  var heads: [HTTPRequestHead] { seen.state.withLock { $0.heads } }
  var connections: Int { seen.state.withLock { $0.connections } }
  var ended: Int { seen.state.withLock { $0.ended } }

  /// Waits for the first upgraded connection, and returns its peer.
  func peer() async throws -> TestPeer {
    try await SocketWait.until("a peer") { seen.state.withLock { $0.peers.first } }
  }

  /// A handler that responds to each read with the next text, and repeats the last one.
  private final class Answering: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private var texts: [String]
    private let closesAfterwards: Bool
    private let silentAt: String?
    private var hasAnswered = false

    init(_ texts: [String], closesAfterwards: Bool = false, silentAt: String? = nil) {
      self.texts = texts
      self.closesAfterwards = closesAfterwards
      self.silentAt = silentAt
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if closesAfterwards, hasAnswered || texts.isEmpty { return context.close(promise: nil) }
      hasAnswered = true
      if let silentAt, String(buffer: Self.unwrapInboundIn(data)).contains(silentAt) { return }
      let text = texts.count > 1 ? texts.removeFirst() : texts[0]
      context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }
  }

  /// A handler that responds to the first read with a text, and then sends another text every 100 ms without end.
  private final class Trickling: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let head: String
    private let rest: [UInt8]
    private var hasBegun = false

    init(_ head: String, _ rest: String) {
      self.head = head
      self.rest = Array(rest.utf8)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !hasBegun else { return }
      hasBegun = true
      context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: head)), promise: nil)
      guard !rest.isEmpty else { return }
      let (channel, rest) = (context.channel, rest)
      let task = channel.eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(100), delay: .milliseconds(100)) {
        _ in
        channel.writeAndFlush(ByteBuffer(bytes: rest), promise: nil)
      }
      channel.closeFuture.whenComplete { _ in task.cancel() }
    }
  }
}
