import CNIOBoringSSL
import Foundation
import NIOCore
import NIOEmbedded
import NIOWebSocket
import SDKInstances

@testable import SDKKinds

extension FuzzTarget {
  /// A WebSocket from the answer to the upgrade to its end. The first part is the head of the answer without its end,
  /// in which `ACCEPT` stands for the right key; of every other part the first byte is that of the frame, the rest its
  /// payload. A part that begins with a zero byte is bytes as they are.
  static let webSocket = FuzzTarget("websocket", bytesPerLine: 24) { input in
    let parts = input.parts
    var (reader, answer) = (UpgradeAnswerReader(), ByteBuffer(bytes: parts[0]))
    _ = try? reader.read(&answer)
    guard let url = VendorURL("ws://127.0.0.1:1/", .webSocket),
      let request = UpgradeRequest(
        SocketRequestParts(instance: "a", url: "ws://127.0.0.1:1/", subprotocols: ["chat"]), to: url)
    else { fatalError("There is no request.") }
    var limits = SocketLimits()
    (limits.message, limits.waiting, limits.waitingBytes) = (4096, 4, 8192)
    let channel = EmbeddedChannel()
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    do {
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
      let turn = Turn<LiveSocket>()
      try channel.pipeline.syncOperations.addHandler(UpgradeHandler(request, limits: limits, turn: turn))
      try channel.writeInbound(ByteBuffer(bytes: head(parts[0], to: request)))
      for part in parts.dropFirst() {
        try channel.writeInbound(ByteBuffer(bytes: frame(part)))
        take(from: channel)
      }
      channel.embeddedEventLoop.advanceTime(by: .seconds(60))
    } catch {
      // A channel that has closed takes no more.
    }
    assemble(parts.dropFirst(), limit: limits.message)
  }

  private static func take(from channel: EmbeddedChannel) {
    guard let handler = try? channel.pipeline.syncOperations.handler(type: SocketHandler.self) else { return }
    for _ in 0..<8 {
      let turn = Turn<String?>()
      handler.take(turn)
      if !turn.isOver {
        turn.resolve(.failure(.network("cancelled")))
        break
      }
    }
    while (try? channel.readOutbound(as: ByteBuffer.self)) != nil {}
  }

  private static func assemble(_ parts: ArraySlice<ArraySlice<UInt8>>, limit: Int) {
    var assembler = MessageAssembler(limit: limit)
    for part in parts {
      guard let first = part.first else { continue }
      let frame = WebSocketFrame(
        fin: first & 0x80 != 0, rsv1: first & 0x40 != 0, opcode: WebSocketOpcode(encodedWebSocketOpcode: first & 0x0F)!,
        data: ByteBuffer(bytes: part.dropFirst()))
      guard case .text(let text) = assembler.take(frame) else { continue }
      require(text.utf8.count <= limit, "A message has \(text.utf8.count) bytes.")
      _ = ChatMediator.Verdict(text)
    }
  }

  private static func head(_ part: ArraySlice<UInt8>, to request: UpgradeRequest) -> [UInt8] {
    let name = "Sec-WebSocket-Key: "
    guard let start = request.text.range(of: name)?.upperBound else { fatalError("The request has no key.") }
    let key = request.text[start...].prefix { $0 != "\r\n" && $0 != "\r" }
    let answered = Array("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)
    var digest = [UInt8](repeating: 0, count: 20)
    SHA1(answered, answered.count, &digest)
    let accept = Data(digest).base64EncodedString()
    let text = String(decoding: part, as: UTF8.self).replacingOccurrences(of: "ACCEPT", with: accept)
    return Array(text.replacingOccurrences(of: "\r\n", with: "\n").replacingOccurrences(of: "\n", with: "\r\n").utf8)
      + Array("\r\n\r\n".utf8)
  }

  /// The part as a frame whose length is right.
  private static func frame(_ part: ArraySlice<UInt8>) -> [UInt8] {
    guard let first = part.first, first != 0 else { return Array(part.dropFirst()) }
    let payload = part.dropFirst()
    let length: [UInt8] =
      payload.count < 126
      ? [UInt8(payload.count)] : [126, UInt8(payload.count >> 8 & 0xFF), UInt8(payload.count & 0xFF)]
    return [first] + length + payload
  }
}
