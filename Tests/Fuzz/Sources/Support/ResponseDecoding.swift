import NIOCore
import NIOEmbedded
import NIOHTTP1
import SDKInstances

@testable import SDKKinds

/// Reads HTTP answers with the handlers that the vendors' connections have, without a connection.
enum ResponseDecoding {
  /// Returns the answer to a request whose connection carries these bytes and then ends.
  static func answer(_ bytes: some Collection<UInt8>) -> Result<HTTPResponseParts, HTTPFailure> {
    let channel = EmbeddedChannel()
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    do {
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandlers([
        HTTPRequestEncoder(),
        ByteToMessageHandler(
          HTTPResponseDecoder(leftOverBytesStrategy: .forwardBytes, informationalResponseStrategy: .forward)),
      ])
      try ResponseGuard.add(to: channel)
      channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
      channel.write(
        HTTPClientRequestPart.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")), promise: nil)
      channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
      try channel.writeInbound(ByteBuffer(bytes: bytes))
      channel.pipeline.fireChannelInactive()
      try channel.throwIfErrorCaught()
      return read(channel)
    } catch let failure as HTTPFailure {
      return .failure(failure)
    } catch {
      return .failure(.network(String(describing: type(of: error))))
    }
  }

  private static func read(_ channel: EmbeddedChannel) -> Result<HTTPResponseParts, HTTPFailure> {
    var answer: HTTPResponseParts?
    while let part = try? channel.readInbound(as: HTTPClientResponsePart.self) {
      switch part {
      case .head(let head):
        require((200...999).contains(head.status.code), "An answer with the status \(head.status.code) is passed on.")
        var headers: [String: String] = [:]
        for field in head.headers where headers[field.name.lowercased()] == nil {
          headers[field.name.lowercased()] = field.value
        }
        answer = HTTPResponseParts(status: Int(head.status.code), headers: headers)
      case .body(let body): answer?.body += Array(body.readableBytesView)
      case .end: return answer.map { .success($0) } ?? .failure(.network("an end without a head"))
      }
    }
    return .failure(.network("the answer is not whole"))
  }
}
