import Glibc
import NIOCore
import NIOPosix
import SDKProtocol
import Synchronization

@testable import SDKInstances
@testable import SDKKinds

extension FuzzTarget {
  /// Answers through the whole HTTP client, from a server on this machine that sends the input and closes.
  ///
  /// A first part `url http://127.0.0.1:1/` asks another URL of this machine; a first part `stall` leaves the
  /// connection open after the answer.
  static let http = FuzzTarget("http") { input in
    var parts = input.parts
    var url: String?
    let first = String(decoding: parts[0], as: UTF8.self)
    if parts.count > 1, first == "stall" || first.hasPrefix("url ") {
      parts.removeFirst()
      if first != "stall" { url = String(first.dropFirst(4)) }
    }
    let stalls = first == "stall" && parts.count < input.parts.count
    if let named = url.flatMap({ VendorURL($0, .http) }), !URLRule.isLoopback(url ?? "") || named.isSecure { return }
    LoopbackServer.shared.serve(parts.map { Array($0) }, stalls: stalls)
    let asked = url ?? "http://127.0.0.1:\(LoopbackServer.shared.port)/"
    blocking {
      for _ in 0..<2 { await ask(asked, timeout: stalls ? 0.02 : 5) }
      // The first call notes the client, and the second one closes it.
      for _ in 0..<2 { await client.closeIdle() }
    }
  }

  private static let client = VendorHTTPClient(group: LoopbackServer.shared.group)

  private static func ask(_ url: String, timeout: Double) async {
    let clock = VendorClock(Clock.wall)
    do throws(HTTPFailure) {
      let answer = try await client.send(HTTPRequestParts(instance: "a", method: "GET", url: url, timeout: timeout))
      require((200...999).contains(answer.status), "An answer has the status \(answer.status).")
      require(answer.body.count <= 1 << 20, "An answer has \(answer.body.count) bytes.")
      require((0...3600).contains(answer.retryAfter), "Retry-After means \(answer.retryAfter) s.")
      clock.note(headers: answer.headers, status: answer.status, sentAt: Clock.now)
      require(abs(clock.now - Clock.now) <= 86_400, "A vendor's clock is \(clock.now).")
      if case .unusable(let error) = VendorAnswer(answer, vendor: "V") { Check.error(error) }
    } catch {
      Check.error(error.error(vendor: "V"))
    }
  }
}

/// A server that answers each connection with the next text and closes it.
private final class LoopbackServer: Sendable {
  static let shared = LoopbackServer()

  let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  let port: Int
  private let script: Script

  private final class Script: Sendable {
    let state = Mutex((answers: [[UInt8]](), stalls: false))
  }

  private init() {
    let script = Script()
    self.script = script
    guard
      let channel = try? ServerBootstrap(group: group)
        .childChannelInitializer({ channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(Answering(script))
          }
        })
        .bind(host: "127.0.0.1", port: 0).wait(), let port = channel.localAddress?.port
    else { fatalError("There is no port for the server.") }
    self.port = port
  }

  /// The answers of the next connections; the last one is that of all further ones.
  func serve(_ answers: [[UInt8]], stalls: Bool) { script.state.withLock { $0 = (answers, stalls) } }

  private final class Answering: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let script: Script
    private var hasAnswered = false

    init(_ script: Script) { self.script = script }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !hasAnswered else { return }
      hasAnswered = true
      let (answer, stalls) = script.state.withLock { state in
        (state.answers.count > 1 ? state.answers.removeFirst() : state.answers.first ?? [], state.stalls)
      }
      let channel = context.channel
      context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(bytes: answer))).whenComplete { _ in
        if !stalls { channel.close(promise: nil) }
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }
}
