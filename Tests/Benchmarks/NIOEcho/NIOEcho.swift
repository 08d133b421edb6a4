import NIOCore
import NIOPosix

/// Answers each line on a Unix socket with a line of so many bytes: what SwiftNIO itself costs. For
/// `Tests/Benchmarks/instructions`.
@main
struct NIOEcho {
  static func main() async throws {
    guard CommandLine.arguments.count == 3, let size = Int(CommandLine.arguments[2]), size > 0 else {
      return print("Usage: nio-echo SOCKET BYTES")
    }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let channel = try await ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Answering(size)) }
      }
      .bind(unixDomainSocketPath: CommandLine.arguments[1]).get()
    try await channel.closeFuture.get()
  }
}

/// Counts line breaks and answers each.
private final class Answering: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let answer: ByteBuffer

  init(_ size: Int) {
    answer = ByteBuffer(bytes: [UInt8](repeating: UInt8(ascii: "x"), count: size - 1) + [UInt8(ascii: "\n")])
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let lines = Self.unwrapInboundIn(data).readableBytesView.count { $0 == UInt8(ascii: "\n") }
    for _ in 0..<lines { context.write(Self.wrapOutboundOut(answer), promise: nil) }
    context.flush()
  }
}
