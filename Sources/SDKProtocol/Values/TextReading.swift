/// A text as a reader sees it who decodes its escapes. Each byte knows the part of the text that it stands for.
struct TextReading {
  /// The bytes, decoded.
  private(set) var bytes: [UInt8] = []
  private var places: [Range<Int>] = []

  /// The number of times that escapes are decoded: a body that a vendor repeats as a text in its own body has two.
  private static let depth = 2

  /// Returns the readings of a text: as it is, and with its escapes decoded up to twice, in each order of their kinds.
  static func all(of text: [UInt8]) -> [TextReading] {
    var level = [TextReading(text)]
    var all = level
    for _ in 0..<depth {
      level = level.flatMap { [$0.percentDecoded, $0.backslashDecoded].compactMap(\.self) }
      all += level
    }
    return all
  }

  private init(_ text: [UInt8]) {
    bytes = text
    places = text.indices.map { $0..<($0 + 1) }
  }

  private init() {}

  /// Returns the part of the text that some of the bytes stand for.
  func place(of part: Range<Int>) -> Range<Int> {
    places[part.lowerBound].lowerBound..<places[part.upperBound - 1].upperBound
  }

  /// The reading with `%41` as one byte (RFC 3986, section 2.1); `nil` if there is no such escape.
  private var percentDecoded: TextReading? {
    decoded(UInt8(ascii: "%")) { index in number(index + 1, digits: 2).map { ([UInt8($0)], 3) } }
  }

  /// The reading without the escapes of JSON's strings (RFC 8259, section 7); `nil` if there are none.
  private var backslashDecoded: TextReading? {
    decoded(UInt8(ascii: "\\")) { index in
      guard index + 1 < bytes.count else { return nil }
      switch bytes[index + 1] {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return ([bytes[index + 1]], 2)
      case UInt8(ascii: "b"): return ([0x08], 2)
      case UInt8(ascii: "f"): return ([0x0C], 2)
      case UInt8(ascii: "n"): return ([0x0A], 2)
      case UInt8(ascii: "r"): return ([0x0D], 2)
      case UInt8(ascii: "t"): return ([0x09], 2)
      case UInt8(ascii: "u"): return scalar(index)
      default: return nil
      }
    }
  }

  /// Returns the character of `\u00E9`, or of two such escapes, and the number of their bytes.
  private func scalar(_ index: Int) -> ([UInt8], Int)? {
    guard let first = number(index + 2, digits: 4) else { return nil }
    if let scalar = Unicode.Scalar(first) { return (Array(String(Character(scalar)).utf8), 6) }
    guard bytes[(index + 6)...].starts(with: "\\u".utf8), let second = number(index + 8, digits: 4),
      (0xD800..<0xDC00).contains(first), (0xDC00..<0xE000).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { return nil }
    return (Array(String(Character(scalar)).utf8), 12)
  }

  /// Returns the number of hexadecimal digits; `nil` for anything else.
  private func number(_ start: Int, digits: Int) -> UInt32? {
    guard start + digits <= bytes.count else { return nil }
    var value: UInt32 = 0
    for byte in bytes[start..<(start + digits)] {
      switch byte {
      case 0x30...0x39: value = value << 4 | UInt32(byte - 0x30)
      case 0x41...0x46, 0x61...0x66: value = value << 4 | UInt32(byte & 0x5F - 0x37)
      default: return nil
      }
    }
    return value
  }

  /// Returns the reading with each escape decoded.
  ///
  /// - Parameters:
  ///   - mark: the byte with which an escape begins.
  ///   - decode: returns the bytes of the escape at an index, and its length; `nil` if there is none.
  private func decoded(_ mark: UInt8, _ decode: (Int) -> ([UInt8], Int)?) -> TextReading? {
    guard bytes.contains(mark) else { return nil }
    var result = TextReading()
    var index = 0
    while index < bytes.count {
      let (characters, length) = bytes[index] == mark ? decode(index) ?? ([mark], 1) : ([bytes[index]], 1)
      let place = place(of: index..<(index + length))
      for byte in characters {
        result.bytes.append(byte)
        result.places.append(place)
      }
      index += length
    }
    return result.bytes.count == bytes.count ? nil : result
  }
}
