import FlyingFox
import Foundation

/// The connection of one WebSocket: reads the client's frames and carries out the sandbox's commands.
struct SocketConnection: Sendable {
  let socket: OpenSocket
  let client: AsyncThrowingStream<WSFrame, any Error>
  let out: AsyncStream<WSFrame>.Continuation

  /// Serves the socket. Returns when either side has closed it, or when `gone` ends.
  func run(until gone: AsyncStream<Never>) async {
    await withDiscardingTaskGroup { group in
      group.addTask {
        await read()
        await socket.ended()
      }
      group.addTask {
        for await _ in gone {}
        await socket.ended()
      }
      for await command in socket.commands {
        switch command {
        case .send(let text, 0): send(text)
        case .send(let text, let delay):
          group.addTask {
            guard (try? await Task.sleep(for: .milliseconds(delay))) != nil else { return }
            send(text)
          }
        case .close(let code?): out.yield(.close(code: WSCloseCode(UInt16(clamping: code))))
        case .close(nil): break
        }
      }
      group.cancelAll()
    }
    // This makes the library close the connection. No task may still wait for its bytes: the library would confuse the
    // next connection on the same descriptor with this one, and never report its bytes.
    out.finish()
    await socket.ended()
  }

  private func send(_ text: String) {
    let frame = WSFrame(fin: true, opcode: .text, mask: nil, payload: Data(text.utf8))
    if case .dropped = out.yield(frame) { out.finish() }
  }

  private func read() async {
    var messages = MessageAssembly()
    do {
      for try await frame in client {
        switch messages.take(frame) {
        case .text(let text): await socket.receive(text)
        case .ping:
          if await socket.answersPing() {
            out.yield(WSFrame(fin: true, opcode: .pong, mask: nil, payload: frame.payload))
          }
        case .closed:
          out.yield(WSFrame(fin: true, opcode: .close, mask: nil, payload: frame.payload))
          return
        case .mistake(let code):
          out.yield(.close(code: code))
          return
        case .nothing: break
        }
      }
    } catch {
      // A broken connection counts as closed.
    }
  }
}

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
