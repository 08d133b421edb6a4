internal import Glibc

/// Cuts a stream of bytes into lines: `\n` ends one, `\r\n` too, blank ones are skipped.
///
/// A value without I/O. Every byte is looked at once, however small the pieces it arrives in.
public struct LineFramer: Sendable {
  /// What was found next.
  public enum Output: Sendable, Hashable {
    /// A line without its end; never empty.
    case frame(ArraySlice<UInt8>)
    /// A line over the limit. Nothing after it is kept, and nothing more comes.
    case tooLarge
  }

  /// The longest line, without its end.
  public private(set) var limit: Int

  private var buffer: [UInt8] = []
  /// Where the line begins that is cut next.
  private var start = 0
  /// Up to here there is no `\n` after `start`.
  private var scanned = 0
  private var isFinished = false
  private var isBroken = false

  /// Kept between lines, so that an idle connection costs little.
  private static let keptCapacity = 4096

  /// A framer for lines of up to `limit` bytes.
  public init(limit: Int) { self.limit = min(limit, .max - 1) }

  /// Another limit, also for the line that has begun.
  public mutating func use(limit: Int) { self.limit = min(limit, .max - 1) }

  /// Bytes that have arrived and belong to no line that was given out: whole lines and an unfinished one.
  public var pendingBytes: Int { buffer.count - start }

  /// Takes bytes. After `finish()` and after a line over the limit they are dropped.
  public mutating func append(_ bytes: some Sequence<UInt8>) {
    guard !isFinished, !isBroken else { return }
    compact()
    buffer.append(contentsOf: bytes)
  }

  /// No more bytes will come: what is unfinished is the last line.
  public mutating func finish() { isFinished = true }

  /// The next line; `nil` when more bytes are needed for one.
  public mutating func next() -> Output? {
    while !isBroken, let end = lineEnd() {
      let line = buffer[start..<end].last == UInt8(ascii: "\r") ? start..<(end - 1) : start..<end
      start = min(end + 1, buffer.count)
      scanned = start
      if line.count > limit { return tooLarge() }
      if !isBlank(line) { return .frame(buffer[line]) }
    }
    // One more, for it may be the `\r` of a line that is just short enough.
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

  /// Frees what was given out; an unfinished line moves to the front once, not with each piece.
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
