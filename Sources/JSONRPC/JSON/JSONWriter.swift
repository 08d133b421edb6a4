/// A writer of compact JSON text, always on one line.
public struct JSONWriter: Sendable {
  /// The text written so far, in UTF-8.
  public private(set) var bytes: [UInt8] = []

  /// Makes a writer without text, with room for `capacity` bytes.
  public init(reserving capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// Returns the text of one value.
  public static func bytes(of value: JSON) -> [UInt8] {
    var writer = JSONWriter(reserving: 256)
    writer.write(value)
    return writer.bytes
  }

  /// Returns the text of one value as a string.
  public static func text(of value: JSON) -> String { String(decoding: bytes(of: value), as: UTF8.self) }

  /// Returns a member's name with the colon.
  public static func label(_ name: String) -> [UInt8] {
    var writer = JSONWriter(reserving: name.utf8.count + 3)
    writer.write(string: name)
    writer.write(raw: ":")
    return writer.bytes
  }

  /// Appends the name of the next member of an object, with a comma unless it is the first.
  public mutating func write(label: [UInt8]) {
    if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
    bytes.append(contentsOf: label)
  }

  /// Removes the text after the first `count` bytes.
  public mutating func truncate(to count: Int) { bytes.removeLast(max(0, bytes.count - count)) }

  /// Appends bytes that are JSON text already.
  public mutating func write(raw: some Sequence<UInt8>) { bytes.append(contentsOf: raw) }

  /// Appends bytes that are JSON text already. Other modules call this one at less cost than the generic function.
  public mutating func write(raw: UnsafeBufferPointer<UInt8>) { bytes.append(contentsOf: raw) }

  /// Appends a byte of JSON text.
  public mutating func write(byte: UInt8) { bytes.append(byte) }

  /// Appends JSON text from the source code.
  public mutating func write(raw text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  /// Appends a value.
  public mutating func write(_ value: JSON) {
    switch value {
    case .null: write(raw: "null")
    case .bool(let bool): write(raw: bool ? "true" : "false")
    case .number(let number): bytes.append(contentsOf: number.text.utf8)
    case .string(let string): write(string: string)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for index in elements.indices {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        write(elements[index])
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let object): write(object)
    }
  }

  /// Appends an object.
  public mutating func write(_ object: JSONObject) {
    bytes.append(UInt8(ascii: "{"))
    for index in object.members.indices {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      write(string: object.members[index].key)
      bytes.append(UInt8(ascii: ":"))
      write(object.members[index].value)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  /// Appends a string with its quotes. Quotes, backslashes and control characters are escaped.
  public mutating func write(string: String) {
    bytes.append(UInt8(ascii: "\""))
    var string = string
    string.withUTF8 { utf8 in
      guard Self.needsEscapes(utf8) else { return bytes.append(contentsOf: utf8) }
      var start = 0
      for index in utf8.indices where Self.needsEscape(utf8[index]) {
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start..<index]))
        writeEscape(utf8[index])
        start = index + 1
      }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start...]))
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func needsEscape(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x22 || byte == 0x5C }

  /// The highest bit of each of eight bytes.
  static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// Finds the bytes that must be escaped among eight bytes, the first of which is the lowest.
  ///
  /// - Returns: a word in which the lowest set bit is the highest bit of the first such byte; 0 if there is none. Bits of
  ///   later bytes may be set without reason.
  static func escapes(in word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ (ones &* 0x22)
    let backslashes = word ^ (ones &* 0x5C)
    let found =
      ((word &- (ones &* 0x20)) & ~word) | ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)
    return found & highBits
  }

  /// Whether any byte must be escaped. Looks at eight bytes at a time.
  private static func needsEscapes(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
    var index = 0
    while index + 8 <= utf8.count {
      let word = UnsafeRawBufferPointer(utf8).loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if escapes(in: UInt64(littleEndian: word)) != 0 { return true }
      index += 8
    }
    while index < utf8.count {
      if needsEscape(utf8[index]) { return true }
      index += 1
    }
    return false
  }

  private mutating func writeEscape(_ byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case 0x22, 0x5C: bytes.append(byte)
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x0C: bytes.append(UInt8(ascii: "f"))
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    default:
      let digits = Array("0123456789abcdef".utf8)
      bytes.append(contentsOf: [UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0")])
      bytes.append(digits[Int(byte >> 4)])
      bytes.append(digits[Int(byte & 15)])
    }
  }
}
