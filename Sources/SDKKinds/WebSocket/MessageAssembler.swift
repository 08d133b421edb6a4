import NIOCore
import NIOWebSocket
import SDKInstances

/// An assembler of messages from frames. It refuses frames that RFC 6455 does not allow a server to send.
struct MessageAssembler {
  /// The content of a frame.
  enum Piece: Equatable {
    /// A part of a message whose end is still to come.
    case none
    case text(String)
    case ping(ByteBuffer)
    case pong(ByteBuffer)
    /// A close frame of the peer, with the code to answer with.
    case close(WebSocketErrorCode?)
    /// A fault that must end the connection, with the code for the peer and the failure for us.
    case broken(WebSocketErrorCode, HTTPFailure)
  }

  private let limit: Int
  private var fragments: ByteBuffer?

  /// Creates an assembler for messages of at most `limit` bytes.
  init(limit: Int) { self.limit = limit }

  /// Adds a frame and returns its content.
  mutating func take(_ frame: WebSocketFrame) -> Piece {
    guard !frame.rsv1, !frame.rsv2, !frame.rsv3, frame.maskKey == nil else {
      return Self.violation("the server sent a frame that we can't have agreed on")
    }
    switch frame.opcode {
    case .ping: return .ping(frame.data)
    case .pong: return .pong(frame.data)
    case .connectionClose: return Self.close(frame.data)
    case .text:
      guard fragments == nil else { return Self.violation("a message began within another") }
      return add(frame, to: ByteBuffer())
    case .continuation:
      guard let begun = fragments else { return Self.violation("a message went on that had not begun") }
      // Drop this reference first: with two references, each fragment would copy all fragments before it.
      fragments = nil
      return add(frame, to: begun)
    case .binary: return .broken(.unacceptableData, .network("the server sent a binary message"))
    default: return Self.violation("the server sent a frame of an unknown kind")
    }
  }

  private mutating func add(_ frame: WebSocketFrame, to begun: ByteBuffer) -> Piece {
    var whole = begun
    guard frame.data.readableBytes <= limit - whole.readableBytes else { return .broken(.messageTooLarge, .tooLarge) }
    whole.writeImmutableBuffer(frame.data)
    guard frame.fin else {
      fragments = whole
      return .none
    }
    guard let text = String(validating: whole.readableBytesView, as: UTF8.self) else {
      return .broken(.dataInconsistentWithMessage, .network("the server sent a text that is not UTF-8"))
    }
    return .text(text)
  }

  private static func close(_ payload: ByteBuffer) -> Piece {
    guard payload.readableBytes > 0 else { return .close(nil) }
    guard let code = payload.getInteger(at: payload.readerIndex, as: UInt16.self) else {
      return violation("the server closed without a whole code")
    }
    switch code {
    case 1000...1003, 1007...1014, 3000...4999:
      guard String(validating: payload.readableBytesView.dropFirst(2), as: UTF8.self) != nil else {
        return .broken(.dataInconsistentWithMessage, .network("the server closed with a text that is not UTF-8"))
      }
      return .close(WebSocketErrorCode(codeNumber: Int(code)))
    default: return violation("the server closed with a code that does not exist")
    }
  }

  private static func violation(_ words: String) -> Piece { .broken(.protocolError, .network(words)) }
}
