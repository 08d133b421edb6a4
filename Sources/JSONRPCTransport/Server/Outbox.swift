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
      let before = messages.buffer.writerIndex
      messages.buffer.writeMessage(messages.framing) { $0.writeBytes(text) }
      count(messages.buffer.writerIndex - before)
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
      reserveCapacity(minimumWritableBytes: result.count + 64)
      writeStaticString(#"{"jsonrpc":"2.0","id":"#)
      writeID(id)
      writeStaticString(#","result":"#)
      writeBytes(result)
      writeInteger(UInt8(ascii: "}"))
    case .failure(let error):
      writeBytes(RPCText.response(id: id, error: error))
    }
  }

  private mutating func writeID(_ id: RPCID) {
    switch id {
    case .number(let number): writeString(number.text)
    case .null: writeStaticString("null")
    case .string: writeBytes(JSONWriter.bytes(of: id.json))
    }
  }
}
