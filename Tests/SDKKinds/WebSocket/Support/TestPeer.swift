import NIOCore
import NIOWebSocket
import Synchronization

/// The server's end of a WebSocket. It records the received frames, and sends frames for the test.
final class TestPeer: ChannelInboundHandler, Sendable {
  typealias InboundIn = WebSocketFrame

  private struct State {
    var frames: [WebSocketFrame] = []
    var answersPings = true
    var answersClose = true
    var isClosed = false
  }

  let channel: any Channel
  private let state = Mutex(State())

  init(_ channel: any Channel) { self.channel = channel }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = Self.unwrapInboundIn(data)
    let now = state.withLock {
      $0.frames.append(frame)
      return $0
    }
    switch frame.opcode {
    case .ping where now.answersPings: send(.pong, frame.unmaskedData)
    case .connectionClose where now.answersClose:
      send(.connectionClose, frame.unmaskedData)
      context.close(promise: nil)
    default: break
    }
  }

  func channelInactive(context: ChannelHandlerContext) { state.withLock { $0.isClosed = true } }
  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  /// All received frames, in order.
  var frames: [WebSocketFrame] { state.withLock { $0.frames } }
  var isClosed: Bool { state.withLock { $0.isClosed } }
  /// The received texts, in order.
  var texts: [String] { frames.filter { $0.opcode == .text }.map { String(buffer: $0.unmaskedData) } }
  /// The status code of the client's close frame; `nil` if none has come.
  var closeCode: UInt16? {
    frames.first { $0.opcode == .connectionClose }.flatMap { $0.unmaskedData.getInteger(at: 0) }
  }

  func stopAnsweringPings() { state.withLock { $0.answersPings = false } }
  func stopAnsweringClose() { state.withLock { $0.answersClose = false } }

  func send(_ text: String) { send(.text, ByteBuffer(string: text)) }

  func send(_ opcode: WebSocketOpcode, _ data: ByteBuffer, fin: Bool = true) {
    channel.writeAndFlush(WebSocketFrame(fin: fin, opcode: opcode, data: data), promise: nil)
  }

  /// Sends bytes as they are, without making a frame of them.
  func raw(_ bytes: [UInt8]) {
    channel.eventLoop.execute { [channel] in
      let encoder = try? channel.pipeline.syncOperations.context(handlerType: WebSocketFrameEncoder.self)
      encoder?.writeAndFlush(NIOAny(ByteBuffer(bytes: bytes)), promise: nil)
    }
  }

  /// Ends the connection without a close frame.
  func drop() { channel.close(promise: nil) }
}
