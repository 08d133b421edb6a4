import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import sdkd

extension FuzzTarget {
  /// Requests for metrics, as any program of the machine can send them.
  static let metrics = FuzzTarget("metrics") { input in
    let channel = EmbeddedChannel()
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    do {
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
      let pipeline = channel.pipeline.syncOperations
      try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false)
      try pipeline.addHandler(
        MetricsHTTPHandler(address: ListenAddress("127.0.0.1:9464")) { _, answer in answer("sdkd_up 1\n") })
      for part in input.parts {
        try channel.writeInbound(ByteBuffer(bytes: part))
        channel.embeddedEventLoop.run()
      }
    } catch {
      // A channel that has closed takes no more.
    }
    var sent = 0
    while let bytes = try? channel.readOutbound(as: ByteBuffer.self) { sent += bytes.readableBytes }
    require(sent <= 2048, "One connection gets \(sent) bytes.")
  }
}
