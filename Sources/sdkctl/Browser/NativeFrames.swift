/// A reader of the frames of native messaging, with which browsers talk to host programs: the length in four bytes of
/// the machine's own order, then a JSON text.
struct NativeFrames {
  /// The largest frame in bytes that Chromium takes from a host; Firefox has the same limit.
  static let largestForBrowser = 1 << 20

  /// The error for a frame whose stated length is over the limit.
  struct TooLarge: Error, Hashable {
    /// The length that the frame's first bytes give.
    let length: Int
  }

  private static let headerSize = MemoryLayout<UInt32>.size

  /// The largest length of a frame that is accepted.
  let limit: Int
  private var bytes: [UInt8] = []
  /// The number of bytes that were returned as frames.
  private var used = 0

  /// Creates a reader without bytes.
  init(limit: Int) { self.limit = limit }

  /// Appends received bytes. Call `next` until it returns `nil` before you append more, so that no more than one frame
  /// is kept.
  mutating func append(_ more: some Sequence<UInt8>) {
    bytes.removeFirst(used)
    used = 0
    bytes += more
  }

  /// Returns the text of the next complete frame; `nil` until it is complete.
  ///
  /// - Throws: `TooLarge` as soon as the length is known. Nothing after it can be read.
  mutating func next() throws(TooLarge) -> [UInt8]? {
    guard bytes.count - used >= Self.headerSize else { return nil }
    let length = bytes.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: used, as: UInt32.self)) }
    guard length <= limit else { throw TooLarge(length: length) }
    let start = used + Self.headerSize
    guard bytes.count - start >= length else { return nil }
    used = start + length
    return Array(bytes[start..<used])
  }

  /// Returns a text as a frame.
  static func frame(_ text: some Collection<UInt8>) -> [UInt8] {
    withUnsafeBytes(of: UInt32(text.count)) { Array($0) } + text
  }
}
