internal import Glibc

/// A splitter of a byte stream into the JSON texts of its messages.
///
/// A value without I/O. In lines, which end with `\n` or `\r\n`, blank lines are skipped, and the search for `\n` reads
/// each byte once, however small the pieces in which the bytes arrive.
public struct Framer: Sendable {
  /// The result of taking the next message. After any other than `frame` the framer drops its buffer and all later
  /// bytes.
  public enum Output: Sendable, Hashable {
    /// The text of a message: a line without its terminator and never empty, or the bytes after a header.
    case frame(ArraySlice<UInt8>)
    /// A message over the limit.
    case tooLarge
    /// Bytes that are not a message in this framing, with a sentence that says why and what to send.
    case malformed(String)
    /// Bytes of another protocol, with a sentence that says what to send.
    case foreign(String)
  }

  /// The longest accepted text in bytes, without the terminator of a line or the header.
  public private(set) var limit: Int
  /// The framing; `nil` until the first bytes have chosen it.
  public private(set) var framing: Framing?
  /// The number of blank lines that the last `next()` has skipped.
  public private(set) var skippedLines = 0

  private var buffer: [UInt8] = []
  /// The index in `buffer` at which the next message begins.
  private var start = 0
  /// The index in `buffer` from which to search for the next `\n`.
  private var scanned = 0
  /// The header of the message at `start`, as far as it was read.
  private var header = FrameHeader()
  private var isFinished = false
  private var isBroken = false

  /// The sentence that names the framings.
  private static let hint =
    "Send one JSON text per line, or for each text a header with its Content-Length in bytes and an empty line."

  /// The largest buffer that is kept while it is empty, in bytes, so that an idle connection uses little memory.
  private static let keptCapacity = 4096

  /// Makes a framer for texts of up to `limit` bytes. Without a framing, the first bytes choose one.
  public init(limit: Int, framing: Framing? = nil) {
    self.limit = min(limit, .max - 1)
    self.framing = framing
  }

  /// Changes the limit, also for a message that has begun.
  public mutating func use(limit: Int) { self.limit = min(limit, .max - 1) }

  /// The number of bytes that have arrived and were not returned yet: whole messages and an unfinished one.
  public var pendingBytes: Int { buffer.count - start }

  /// The bytes that have arrived and were not returned yet.
  var pending: ArraySlice<UInt8> { buffer[start...] }

  /// The memory that is reserved for bytes that arrive, in bytes.
  var capacity: Int { buffer.capacity }

  /// Appends bytes. After `finish()` and after a refused message they are dropped.
  public mutating func append(_ bytes: some Sequence<UInt8>) {
    guard !isFinished, !isBroken else { return }
    compact()
    buffer.append(contentsOf: bytes)
    if framing == nil { framing = Framing(firstBytes: buffer[start...]) }
  }

  /// Ends the input. An unfinished line is then the last line; an unfinished message with a header is malformed.
  public mutating func finish() {
    isFinished = true
    // Without a decision, nothing has come or the beginning of an HTTP request.
    if framing == nil { framing = pendingBytes == 0 ? .lines : .foreign }
  }

  /// Removes and returns the next message; `nil` if it needs more bytes.
  public mutating func next() -> Output? {
    skippedLines = 0
    guard !isBroken else { return nil }
    switch framing {
    case .lines: return nextLine()
    case .headers: return nextText()
    case .http: return refuse(.malformed("This socket does not speak HTTP. \(Self.hint)"))
    case .foreign: return refuse(.foreign("The first byte begins no JSON text. \(Self.hint)"))
    case nil: return nil
    }
  }

  /// Drops the buffer and all later bytes.
  public mutating func discard() {
    isBroken = true
    buffer = []
    start = 0
    scanned = 0
  }

  // MARK: Lines

  private mutating func nextLine() -> Output? {
    while let end = lineEnd() {
      let line = buffer[start..<end].last == UInt8(ascii: "\r") ? start..<(end - 1) : start..<end
      start = min(end + 1, buffer.count)
      scanned = start
      if line.count > limit { return refuse(.tooLarge) }
      if isHeader(line) {
        return refuse(.malformed("A header follows a line on the same connection. \(Self.hint)"))
      }
      if !isBlank(line) { return .frame(buffer[line]) }
      skippedLines += 1
    }
    freeMemory()
    // One byte more than `limit` is allowed, if it may be the `\r` of a terminator.
    guard pendingBytes > limit else { return nil }
    return pendingBytes > limit + 1 || buffer.last != UInt8(ascii: "\r") ? refuse(.tooLarge) : nil
  }

  private mutating func lineEnd() -> Int? {
    if let found = lineFeed() { return found }
    return isFinished && start < buffer.count ? buffer.count : nil
  }

  /// Returns the index of the first `\n` from `scanned` on; `nil` if there is none, in which case `scanned` moves to
  /// the end.
  private mutating func lineFeed() -> Int? {
    let from = scanned
    let found = buffer.withUnsafeBytes { bytes -> Int? in
      guard from < bytes.count, let base = bytes.baseAddress,
        let newline = memchr(base + from, CInt(UInt8(ascii: "\n")), bytes.count - from)
      else { return nil }
      return UnsafeRawPointer(newline) - base
    }
    if found == nil { scanned = buffer.count }
    return found
  }

  private func isBlank(_ line: Range<Int>) -> Bool {
    guard let first = line.first else { return true }
    guard buffer[first] == 0x20 || buffer[first] == 0x09 || buffer[first] == 0x0D else { return false }
    return buffer[line].allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
  }

  /// Whether a line is a `Content-Length` field. That starts a message of the framing `headers`, whose text has no line
  /// end.
  private func isHeader(_ line: Range<Int>) -> Bool {
    guard let first = line.first, buffer[first] | 0x20 == UInt8(ascii: "c") else { return false }
    let name = buffer[line].prefix("content-length:".utf8.count)
    return String(decoding: name, as: UTF8.self).lowercased() == "content-length:"
  }

  // MARK: Headers

  private mutating func nextText() -> Output? {
    do throws(FrameHeader.Malformed) { try readHeader() } catch {
      return refuse(.malformed("\(error.message) \(Self.hint)"))
    }
    guard header.isComplete, let count = header.textBytes else { return unfinished() }
    if count > limit { return refuse(.tooLarge) }
    let from = start + header.byteCount
    guard buffer.count - from >= count else { return unfinished() }
    start = from + count
    scanned = start
    header = FrameHeader()
    return .frame(buffer[from..<start])
  }

  private mutating func readHeader() throws(FrameHeader.Malformed) {
    while !header.isComplete {
      let from = start + header.byteCount
      guard let end = lineFeed() else { return try header.checkRoom(for: buffer.count - from) }
      scanned = end + 1
      try header.add(buffer[from..<end])
    }
  }

  private mutating func unfinished() -> Output? {
    freeMemory()
    guard isFinished, pendingBytes > 0 else { return nil }
    return refuse(.malformed("The input ended inside a message. Send as many bytes as its Content-Length says."))
  }

  // MARK: The buffer

  private mutating func refuse(_ output: Output) -> Output {
    discard()
    return output
  }

  /// Frees a large buffer whose messages were all returned, because more bytes may not come for long.
  private mutating func freeMemory() {
    if start == buffer.count, buffer.capacity > Self.keptCapacity { compact() }
  }

  /// Frees the messages that were returned. An unfinished one moves to the front once, not with each piece.
  private mutating func compact() {
    guard start > 0 else { return }
    if start == buffer.count {
      buffer.removeAll(keepingCapacity: buffer.capacity <= Self.keptCapacity)
    } else {
      buffer.removeSubrange(..<start)
    }
    scanned -= start
    start = 0
  }
}
