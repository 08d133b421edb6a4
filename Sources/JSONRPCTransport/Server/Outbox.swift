internal import NIOCore
internal import Synchronization

/// A queue of lines from any thread to the event loop. It also counts all unsent bytes of the connection.
final class Outbox: Sendable {
  private struct Lines {
    var buffer = ByteBuffer()
    var isScheduled = false
    var isClosed = false
  }

  private let lines = Mutex(Lines())
  private let unsentBytes = Atomic<Int>(0)
  private let allowance: Allowance?

  init(allowance: Allowance? = nil) { self.allowance = allowance }

  /// The number of bytes that are not written to the socket yet.
  var unsent: Int { unsentBytes.load(ordering: .relaxed) }

  /// Whether the connection has ended.
  var isClosed: Bool { lines.withLock { $0.isClosed } }

  /// Adds to the number of unsent bytes; a negative number removes bytes that were sent.
  func count(_ bytes: Int) {
    unsentBytes.add(bytes, ordering: .relaxed)
    allowance?.count(buffered: bytes)
  }

  /// Adds a line without its newline.
  ///
  /// - Returns: whether the caller must schedule a call of `take` on the event loop.
  func add(_ text: some Collection<UInt8>) -> Bool {
    lines.withLock { lines in
      guard !lines.isClosed else { return false }
      count(text.count + 1)
      lines.buffer.writeBytes(text)
      lines.buffer.writeInteger(UInt8(ascii: "\n"))
      defer { lines.isScheduled = true }
      return !lines.isScheduled
    }
  }

  /// Removes and returns all added lines. Their bytes are counted already.
  func take() -> ByteBuffer {
    lines.withLock { lines in
      defer {
        lines.buffer = ByteBuffer()
        lines.isScheduled = false
      }
      return lines.buffer
    }
  }

  /// Rejects lines from now on, and resets the number of unsent bytes to 0.
  func close() {
    lines.withLock { lines in
      lines.isClosed = true
      lines.buffer = ByteBuffer()
    }
    allowance?.count(buffered: -unsentBytes.exchange(0, ordering: .relaxed))
  }
}
