/// The header of one message in the base protocol of the Language Server Protocol, read line by line.
///
/// Fields may come in any order, and unknown ones are ignored. A line ends with `\r\n` or `\n`; an empty line ends the
/// header.
struct FrameHeader: Sendable {
  /// The reason why a header is refused, as a sentence for the peer.
  struct Malformed: Error {
    let message: String
    init(_ message: String) { self.message = message }
  }

  /// The largest header in bytes, with its line ends and its empty line.
  static let maximumBytes = 4096
  /// The largest number of fields.
  static let maximumLines = 16

  /// The bytes of the lines that were read, with their ends.
  private(set) var byteCount = 0
  /// The length of the text in bytes. A number that is too large for `Int` is `Int.max`.
  private(set) var textBytes: Int?
  /// Whether the empty line was read.
  private(set) var isComplete = false
  private var lines = 0

  /// Adds the next line, which ends before its `\n`.
  mutating func add(_ line: ArraySlice<UInt8>) throws(Malformed) {
    try grow(by: line.count + 1)
    let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    if line.isEmpty {
      guard textBytes != nil else { throw Malformed("A header has no Content-Length.") }
      isComplete = true
      return
    }
    lines += 1
    guard lines <= Self.maximumLines else {
      throw Malformed("A header has more than \(Self.maximumLines) lines.")
    }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
      line[..<colon].allSatisfy(Self.isNameByte)
    else { throw Malformed("Line \(lines) of a header is not a name, a colon and a value.") }
    let value = Self.trimmed(line[(colon + 1)...])
    switch String(decoding: line[..<colon], as: UTF8.self).lowercased() {
    case "content-length":
      guard textBytes == nil else { throw Malformed("A header has more than one Content-Length.") }
      textBytes = try Self.length(value)
    case "content-type": try Self.checkCharset(value)
    default: break
    }
  }

  /// Throws if the header has more than `maximumBytes` with this many more bytes.
  func checkRoom(for bytes: Int) throws(Malformed) {
    guard bytes <= Self.maximumBytes - byteCount else {
      throw Malformed("A header is larger than \(Self.maximumBytes) bytes.")
    }
  }

  private mutating func grow(by bytes: Int) throws(Malformed) {
    try checkRoom(for: bytes)
    byteCount += bytes
  }

  private static func length(_ value: ArraySlice<UInt8>) throws(Malformed) -> Int {
    guard !value.isEmpty, value.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
      throw Malformed("The Content-Length is not a decimal number of bytes.")
    }
    return Int(String(decoding: value, as: UTF8.self)) ?? .max
  }

  /// Throws if the media type names another charset than UTF-8. `utf8` is what early clients of the protocol send.
  private static func checkCharset(_ value: ArraySlice<UInt8>) throws(Malformed) {
    let parts = String(decoding: value, as: UTF8.self).lowercased().split { $0 == ";" || $0 == " " || $0 == "\t" }
    for part in parts where part.utf8.starts(with: "charset=".utf8) {
      let name = part.dropFirst("charset=".count).filter { $0 != "\"" }
      guard name == "utf-8" || name == "utf8" else { throw Malformed("The charset of the Content-Type is not UTF-8.") }
    }
  }

  private static func trimmed(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    let value = value.drop(while: isSpace)
    return value.lastIndex { !isSpace($0) }.map { value[...$0] } ?? []
  }

  /// Whether a field's name may have this byte (RFC 9110, section 5.6.2).
  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
