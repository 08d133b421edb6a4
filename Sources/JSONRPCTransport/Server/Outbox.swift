internal import NIOCore
internal import Synchronization

/// Lines on their way from any thread to the event loop, and the count of all that is unsent.
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

  /// Bytes that are on no socket yet.
  var unsent: Int { unsentBytes.load(ordering: .relaxed) }

  /// Whether the connection has ended.
  var isClosed: Bool { lines.withLock { $0.isClosed } }

  /// Counts bytes that were written, or by a negative number sent.
  func count(_ bytes: Int) {
    unsentBytes.add(bytes, ordering: .relaxed)
    allowance?.count(buffered: bytes)
  }

  /// Adds a line without its newline.
  ///
  /// - Returns: whether the caller has to see to it that `take` is called on the event loop.
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

  /// Everything added since the last time; counted already.
  func take() -> ByteBuffer {
    lines.withLock { lines in
      defer {
        lines.buffer = ByteBuffer()
        lines.isScheduled = false
      }
      return lines.buffer
    }
  }

  /// From now on nothing is added, and nothing is unsent any more.
  func close() {
    lines.withLock { lines in
      lines.isClosed = true
      lines.buffer = ByteBuffer()
    }
    allowance?.count(buffered: -unsentBytes.exchange(0, ordering: .relaxed))
  }
}
