internal import Glibc

/// A splitter of a byte stream into lines, which end with `\n` or `\r\n`. Blank lines are skipped.
///
/// A value without I/O. The search for `\n` reads each byte once, however small the pieces in which the bytes arrive.
public struct LineFramer: Sendable {
  /// The result of taking the next line.
  public enum Output: Sendable, Hashable {
    /// A line without its terminator; never empty.
    case frame(ArraySlice<UInt8>)
    /// A line over the limit. The framer drops its buffer and all later bytes.
    case tooLarge
  }

  /// The longest accepted line in bytes, without its terminator.
  public private(set) var limit: Int

  private var buffer: [UInt8] = []
  /// The index in `buffer` at which the next line begins.
  private var start = 0
  /// The index in `buffer` before which there is no `\n` after `start`.
  private var scanned = 0
  private var isFinished = false
  private var isBroken = false

  /// The largest buffer that is kept while it is empty, in bytes, so that an idle connection uses little memory.
  private static let keptCapacity = 4096

  /// Makes a framer for lines of up to `limit` bytes.
  public init(limit: Int) { self.limit = min(limit, .max - 1) }

  /// Changes the limit, also for a line that has begun.
  public mutating func use(limit: Int) { self.limit = min(limit, .max - 1) }

  /// The number of bytes that have arrived and were not returned yet: whole lines and an unfinished one.
  public var pendingBytes: Int { buffer.count - start }

  /// Appends bytes. After `finish()` and after a line over the limit they are dropped.
  public mutating func append(_ bytes: some Sequence<UInt8>) {
    guard !isFinished, !isBroken else { return }
    compact()
    buffer.append(contentsOf: bytes)
  }

  /// Ends the input. An unfinished line is then the last line.
  public mutating func finish() { isFinished = true }

  /// Removes and returns the next line; `nil` if it needs more bytes.
  public mutating func next() -> Output? {
    while !isBroken, let end = lineEnd() {
      let line = buffer[start..<end].last == UInt8(ascii: "\r") ? start..<(end - 1) : start..<end
      start = min(end + 1, buffer.count)
      scanned = start
      if line.count > limit { return tooLarge() }
      if !isBlank(line) { return .frame(buffer[line]) }
    }
    // One byte more than `limit` is allowed, if it may be the `\r` of a terminator.
    guard !isBroken, pendingBytes > limit else { return nil }
    return pendingBytes > limit + 1 || buffer.last != UInt8(ascii: "\r") ? tooLarge() : nil
  }

  private mutating func lineEnd() -> Int? {
    let from = scanned
    let found = buffer.withUnsafeBytes { bytes -> Int? in
      guard from < bytes.count, let base = bytes.baseAddress,
        let newline = memchr(base + from, CInt(UInt8(ascii: "\n")), bytes.count - from)
      else { return nil }
      return UnsafeRawPointer(newline) - base
    }
    if let found { return found }
    scanned = buffer.count
    return isFinished && start < buffer.count ? buffer.count : nil
  }

  private func isBlank(_ line: Range<Int>) -> Bool {
    guard let first = line.first else { return true }
    guard buffer[first] == 0x20 || buffer[first] == 0x09 || buffer[first] == 0x0D else { return false }
    return buffer[line].allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
  }

  private mutating func tooLarge() -> Output {
    isBroken = true
    buffer = []
    start = 0
    scanned = 0
    return .tooLarge
  }

  /// Frees the lines that were returned. An unfinished line moves to the front once, not with each piece.
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
