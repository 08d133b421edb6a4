import NIOCore
import SDKInstances

/// Messages on their way to the one consumer, in order, and then the end.
struct SocketInbox {
  private var messages = CircularBuffer<String>()
  private var bytes = 0
  private var waiting: Turn<String?>?
  private let limits: SocketLimits

  /// How the connection ended: `nil` in order.
  private(set) var end: Result<String?, HTTPFailure>?

  init(limits: SocketLimits) { self.limits = limits }

  /// Whether more waits than may.
  var isFull: Bool { messages.count > limits.waiting || bytes > limits.waitingBytes }
  /// Whether there is room enough to read on.
  var isReady: Bool { messages.count <= limits.waiting / 2 && bytes <= limits.waitingBytes / 2 }

  /// A message has come.
  mutating func add(_ message: String) {
    guard end == nil else { return }
    let turn = waiting
    waiting = nil
    // A turn that was cancelled takes nothing.
    if let turn, turn.resolve(.success(message)) { return }
    messages.append(message)
    bytes += message.utf8.count
  }

  /// The consumer wants the next message.
  mutating func take(_ turn: Turn<String?>) {
    if let waiting, !waiting.isOver {
      turn.resolve(.failure(.network("another consumer waits already")))
    } else if let first = messages.first {
      guard turn.resolve(.success(first)) else { return }
      messages.removeFirst()
      bytes -= first.utf8.count
    } else if let end {
      turn.resolve(end)
    } else {
      waiting = turn
    }
  }

  /// Nothing more comes. The first end counts; what has come before is still handed out.
  mutating func finish(_ outcome: Result<String?, HTTPFailure>) {
    guard end == nil else { return }
    end = outcome
    waiting?.resolve(outcome)
    waiting = nil
  }

  /// We close: what waits is not wanted.
  mutating func discard() {
    messages.removeAll()
    bytes = 0
  }
}
