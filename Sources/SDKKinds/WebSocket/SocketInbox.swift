import NIOCore
import SDKInstances

/// The queue of received messages for the one consumer, followed by the end of the connection.
struct SocketInbox {
  private var messages = CircularBuffer<String>()
  private var bytes = 0
  private var waiting: Turn<String?>?
  private let limits: SocketLimits

  /// The end of the connection: the value `nil` for an orderly close, or the failure.
  private(set) var end: Result<String?, HTTPFailure>?

  init(limits: SocketLimits) { self.limits = limits }

  /// Whether more messages or bytes wait than the limits allow.
  var isFull: Bool { messages.count > limits.waiting || bytes > limits.waitingBytes }
  /// Whether reading can resume: at most half of each limit is in use.
  var isReady: Bool { messages.count <= limits.waiting / 2 && bytes <= limits.waitingBytes / 2 }

  /// Gives a received message to the waiting consumer, or queues it.
  mutating func add(_ message: String) {
    guard end == nil else { return }
    let turn = waiting
    waiting = nil
    // A cancelled turn does not accept the message.
    if let turn, turn.resolve(.success(message)) { return }
    messages.append(message)
    bytes += message.utf8.count
  }

  /// Resolves `turn` with the next message or the end, or keeps it until one comes. Fails it if another consumer waits
  /// already.
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

  /// Ends the queue. Only the first end counts, and messages that came before it are still delivered.
  mutating func finish(_ outcome: Result<String?, HTTPFailure>) {
    guard end == nil else { return }
    end = outcome
    waiting?.resolve(outcome)
    waiting = nil
  }

  /// Drops the waiting messages, because the consumer closes the connection.
  mutating func discard() {
    messages.removeAll()
    bytes = 0
  }
}
