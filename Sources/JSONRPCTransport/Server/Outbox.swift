internal import JSONRPC
internal import NIOCore
internal import Synchronization

/// A queue of messages from any thread to the event loop. It also counts all unsent bytes of the connection.
final class Outbox: Sendable {
  private struct Messages {
    var buffer = ByteBuffer()
    var framing = Framing.lines
    var isScheduled = false
    var isClosed = false
  }

  private let messages = Mutex(Messages())
  private let unsentBytes = Atomic<Int>(0)
  private let allowance: Allowance?

  init(allowance: Allowance? = nil) { self.allowance = allowance }

  /// The number of bytes that are not written to the socket yet.
  var unsent: Int { unsentBytes.load(ordering: .relaxed) }

  /// Whether the connection has ended.
  var isClosed: Bool { messages.withLock { $0.isClosed } }

  /// Sets the framing of messages that are added from now on.
  func use(_ framing: Framing) {
    // The lock costs time, and most connections use lines.
    if framing != .lines { messages.withLock { $0.framing = framing } }
  }

  /// Adds to the number of unsent bytes; a negative number removes bytes that were sent.
  func count(_ bytes: Int) {
    unsentBytes.add(bytes, ordering: .relaxed)
    allowance?.count(buffered: bytes)
  }

  /// Adds the text of a message.
  ///
  /// - Returns: whether the caller must schedule a call of `take` on the event loop.
  func add(_ text: some Collection<UInt8>) -> Bool {
    messages.withLock { messages in
      guard !messages.isClosed else { return false }
      count(messages.buffer.writeMessage(messages.framing) { $0.writeBytes(text) })
      defer { messages.isScheduled = true }
      return !messages.isScheduled
    }
  }

  /// Removes and returns all added messages. Their bytes are counted already.
  func take() -> ByteBuffer {
    messages.withLock { messages in
      defer {
        messages.buffer = ByteBuffer()
        messages.isScheduled = false
      }
      return messages.buffer
    }
  }

  /// Rejects messages from now on, and resets the number of unsent bytes to 0.
  func close() {
    messages.withLock { messages in
      messages.isClosed = true
      messages.buffer = ByteBuffer()
    }
    allowance?.count(buffered: -unsentBytes.exchange(0, ordering: .relaxed))
  }
}

extension ByteBuffer {
  /// Writes a response directly into the buffer, so that the result, such as a token, is copied only once.
  mutating func writeResponse(id: RPCID, _ result: Result<[UInt8], RPCError>) {
    switch result {
    case .success(let result):
      var id = if case .number(let number) = id { number.text } else { JSONWriter.text(of: id.json) }
      let (start, middle): (StaticString, StaticString) = (#"{"jsonrpc":"2.0","id":"#, #","result":"#)
      id.withUTF8 { id in
        let count = start.utf8CodeUnitCount + id.count + middle.utf8CodeUnitCount + result.count + 1
        // All in one write, because each one costs as much as many bytes.
        writeWithUnsafeMutableBytes(minimumWritableBytes: count) { room in
          var end = room.copy(start, to: 0)
          end = room.copy(UnsafeRawBufferPointer(id), to: end)
          end = room.copy(middle, to: end)
          end = result.withUnsafeBytes { room.copy($0, to: end) }
          room[end] = UInt8(ascii: "}")
          return end + 1
        }
      }
    case .failure(let error):
      writeBytes(RPCText.response(id: id, error: error))
    }
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Copies bytes to a position. Returns the position after them.
  fileprivate func copy(_ bytes: UnsafeRawBufferPointer, to position: Int) -> Int {
    // The caller has made room for all bytes. A wrong sum, which is a mistake in this file, must not write past it.
    precondition(bytes.count <= count - position)
    if let from = bytes.baseAddress {
      baseAddress?.advanced(by: position).copyMemory(from: from, byteCount: bytes.count)
    }
    return position + bytes.count
  }

  fileprivate func copy(_ text: StaticString, to position: Int) -> Int {
    copy(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount), to: position)
  }
}
