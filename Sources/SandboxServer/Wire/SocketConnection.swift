import FlyingFox
import Foundation

/// One WebSocket on the wire: reads what the client sends and carries out what the sandbox orders.
struct SocketConnection: Sendable {
  let socket: OpenSocket
  let client: AsyncThrowingStream<WSFrame, any Error>
  let out: AsyncStream<WSFrame>.Continuation

  /// Returns when either side has closed, or when `gone` ends.
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
    // Upon this the library closes the connection. Nobody may wait for its bytes any more: the library would take the
    // next connection with the same descriptor for this one, and never hear from it.
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
      // The connection broke: as good as closed.
    }
  }
}
