internal import JSONRPC
internal import NIOCore

/// A wire that passes lines to a client in the same process. Used on the connection's event loop only.
final class InMemoryWire: Wire {
  let core: ConnectionCore
  private let lines: AsyncStream<JSON>.Continuation
  /// Takes each message. Returns whether it answers a call; `nil` ends the input.
  private let receive: (JSON?) -> Bool
  private var framer = Framer(limit: .max - 1, framing: .lines)

  init(core: ConnectionCore, lines: AsyncStream<JSON>.Continuation, receive: @escaping (JSON?) -> Bool) {
    self.core = core
    self.lines = lines
    self.receive = receive
  }

  func send(_ bytes: ByteBuffer) {
    framer.append(bytes.readableBytesView)
    while case .frame(let line)? = framer.next() {
      guard let json = try? JSONParser.parse(line), !receive(json) else { continue }
      lines.yield(json)
    }
    core.sent(bytes.readableBytes)
  }

  func endInput() { core.inputEnded() }

  func close() {
    guard !core.isLost else { return }
    core.lost()
    _ = receive(nil)
    lines.finish()
  }
}
