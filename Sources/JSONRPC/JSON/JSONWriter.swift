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

  /// Appends bytes that are JSON text already.
  public mutating func write(raw: some Sequence<UInt8>) { bytes.append(contentsOf: raw) }

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
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        write(element)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let object):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in object.members.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        write(string: member.key)
        bytes.append(UInt8(ascii: ":"))
        write(member.value)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// Appends a string with its quotes. Quotes, backslashes and control characters are escaped.
  public mutating func write(string: String) {
    bytes.append(UInt8(ascii: "\""))
    var string = string
    string.withUTF8 { utf8 in
      var start = 0
      for index in utf8.indices where utf8[index] < 0x20 || utf8[index] == 0x22 || utf8[index] == 0x5C {
        bytes.append(contentsOf: utf8[start..<index])
        writeEscape(utf8[index])
        start = index + 1
      }
      bytes.append(contentsOf: utf8[start...])
    }
    bytes.append(UInt8(ascii: "\""))
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
