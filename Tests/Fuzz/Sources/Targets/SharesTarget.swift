import JSONRPC
import NIOCore
import NIOEmbedded

@testable import JSONRPCTransport

extension FuzzTarget {
  /// Four connections of one user that reads nothing. A line begins with the number of its connection; `+` lets a second
  /// pass. A request's params are the number of bytes of its answer.
  static let shares = FuzzTarget("shares", costFactor: 60) { input in
    let allowance = Allowance(limits: AllowanceLimits(callsPerSecond: 1000, maxBufferedBytes: kept))
    let loop = EmbeddedEventLoop()
    let ends = (0..<4).map { _ in UnreadConnection(allowance, on: loop, limits: unreadLimits) }
    for line in input.lines {
      // A longer message is parsed on another thread, which this loop does not wait for.
      guard let first = line.utf8.first, line.utf8.count < 4000 else { continue }
      if first == UInt8(ascii: "+") {
        loop.advanceTime(by: .seconds(1))
      } else {
        ends[Int(first % 4)].receive(String(line.dropFirst()) + "\n")
        loop.run()
      }
      let bytes = allowance.usage.bytes
      let room = kept + longestAnswer + ends.count * (unreadLimits.smallFrameBytes + longestAnswer + errorsOfOneTurn)
      require(bytes <= room + input.bytes.count, "The daemon keeps \(bytes) bytes for one user.")
    }
    for end in ends { end.close() }
    loop.advanceTime(by: .seconds(60))
    require(allowance.usage == (0, 0), "Of closed connections, \(allowance.usage) are still counted.")
  }

  /// The bytes that the daemon keeps for the user.
  private static let kept = 64 << 10
  private static let unreadLimits = TransportLimits(smallFrameBytes: 4 << 10, maxOutboundBytes: 32 << 10)
  fileprivate static let longestAnswer = 16 << 10
  /// The errors to the messages that a connection handles before it looks at its bytes: at most a batch.
  private static let errorsOfOneTurn = RPCFrame.maximumBatch * 512
}

/// A connection whose client takes none of the bytes written to it.
private final class UnreadConnection {
  private let channel: EmbeddedChannel
  private let wall: Wall

  init(_ allowance: Allowance, on loop: EmbeddedEventLoop, limits: TransportLimits) {
    (channel, wall) = (EmbeddedChannel(loop: loop), Wall())
    let connection = Connection(peer: PeerCredentials(pid: 1, uid: 2, gid: 3), allowance: allowance, eventLoop: loop)
    var settings = ConnectionSettings()
    settings.limits = limits
    let core = connection.makeCore(settings)
    let handler = ConnectionChannelHandler(core: core)
    core.start(wire: handler, handler: Text())
    do { try channel.pipeline.syncOperations.addHandlers([wall, handler]) } catch { fatalError("\(error)") }
    channel.pipeline.fireChannelActive()
  }

  func receive(_ text: String) { _ = try? channel.writeInbound(ByteBuffer(string: text)) }

  func close() {
    channel.close(promise: nil)
    channel.embeddedEventLoop.run()
    wall.release()
    channel.embeddedEventLoop.run()
  }

  /// Keeps every write waiting.
  private final class Wall: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    private var waiting: [EventLoopPromise<Void>?] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      waiting.append(promise)
    }

    func release() {
      for promise in waiting { promise?.fail(ChannelError.ioOnClosedChannel) }
      waiting = []
    }
  }
}

/// Answers each request with as many bytes as its params say.
private final class Text: ConnectionHandler {
  func accept(_ request: RPCRequest) -> Acceptance {
    let count = min(max(request.params?.arrayValue?.first?.intValue ?? 0, 0), FuzzTarget.longestAnswer)
    return .reply(.success(Array("\"".utf8) + Array(repeating: 0x78, count: count) + Array("\"".utf8)))
  }

  func receive(notification: RPCRequest) -> (any AcceptedCall)? { nil }
  func closed() {}
}
