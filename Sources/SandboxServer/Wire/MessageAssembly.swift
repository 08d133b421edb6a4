import FlyingFox
import Foundation

/// A bounded buffer that joins the frames of a WebSocket into messages (RFC 6455, 5.4).
struct MessageAssembly {
  private var parts: Data?

  enum Outcome: Equatable {
    case text(String)
    case ping
    case closed
    /// A protocol error. The socket must be closed with this code.
    case mistake(WSCloseCode)
    case nothing
  }

  mutating func take(_ frame: WSFrame) -> Outcome {
    if frame.rsv1 || frame.rsv2 || frame.rsv3 { return .mistake(.protocolError) }
    switch frame.opcode {
    case .ping, .pong, .close:
      guard frame.fin, frame.payload.count <= 125 else { return .mistake(.protocolError) }
      return frame.opcode == .ping ? .ping : frame.opcode == .close ? .closed : .nothing
    case .text where parts == nil: parts = frame.payload
    case .continuation where parts != nil: parts?.append(frame.payload)
    case .binary: return .mistake(.unsupportedData)
    default: return .mistake(.protocolError)
    }
    guard let whole = parts, whole.count <= SandboxLimits.message else { return .mistake(.messageTooBig) }
    guard frame.fin else { return .nothing }
    parts = nil
    return String(bytes: whole, encoding: .utf8).map { .text($0) } ?? .mistake(.invalidFramePayload)
  }
}
