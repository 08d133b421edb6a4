/// Strings: escapes, and the checks of their text.
extension JSONParser {
  mutating func string() throws(JSONSyntaxError) -> String {
    position += 1
    let start = position
    skipPlainText()
    var all: UInt8 = 0
    while position < bytes.count {
      let byte = bytes[position]
      switch byte {
      case UInt8(ascii: "\""):
        let span = bytes.span.extracting(start..<position)
        let text = all < 0x80 ? Self.ascii(span) : try text(of: span)
        position += 1
        return text
      case UInt8(ascii: "\\"): return try escapedString(from: start)
      case 0..<0x20: throw error("a control character stands in a string")
      default:
        all |= byte
        position += 1
      }
    }
    throw error("a string does not end")
  }

  /// Moves to the next byte that ends a string, must be written with an escape or is not ASCII. It stops up to seven bytes
  /// before the end of the text.
  private mutating func skipPlainText() {
    let all = UnsafeRawBufferPointer(bytes)
    while position + 8 <= all.count {
      let word = UInt64(littleEndian: all.loadUnaligned(fromByteOffset: position, as: UInt64.self))
      let special = JSONWriter.escapes(in: word) | word & JSONWriter.highBits
      guard special == 0 else {
        position += special.trailingZeroBitCount / 8
        return
      }
      position += 8
    }
  }

  /// Returns the text of bytes below 128, which need no validation.
  private static func ascii(_ bytes: Span<UInt8>) -> String {
    String(copying: unsafe UTF8Span(unchecked: bytes, isKnownASCII: true))
  }

  private func text(of bytes: Span<UInt8>) throws(JSONSyntaxError) -> String {
    let text: String
    // Not `String(validating:as:)`, which looks up the metadata of generic types for each string.
    do { text = String(copying: try UTF8Span(validating: bytes)) } catch {
      guard leniency == .server else { throw self.error("a string is not UTF-8") }
      text = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
    // A combining mark has at least two bytes.
    guard bytes.count / 2 > Self.maximumMarks, leniency != .ownText, Self.hasLongRunOfMarks(text) else { return text }
    guard leniency == .server else {
      throw refusal("a string has more than \(Self.maximumMarks) combining marks in a row")
    }
    var run = 0
    return String(
      text.unicodeScalars.filter { scalar in
        run = Self.isMark(scalar) ? run + 1 : 0
        return run <= Self.maximumMarks
      })
  }

  private static func hasLongRunOfMarks(_ text: String) -> Bool {
    var run = 0
    for scalar in text.unicodeScalars {
      run = isMark(scalar) ? run + 1 : 0
      if run > maximumMarks { return true }
    }
    return false
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
  }

  private mutating func escapedString(from start: Int) throws(JSONSyntaxError) -> String {
    var collected = Array(bytes[start..<position])
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        let text = try text(of: collected.span)
        position += 1
        return text
      case UInt8(ascii: "\\"):
        position += 1
        try escape(into: &collected)
      case 0..<0x20: throw error("a control character stands in a string")
      default:
        collected.append(byte)
        position += 1
      }
    }
    throw error("a string does not end")
  }

  private mutating func escape(into collected: inout [UInt8]) throws(JSONSyntaxError) {
    guard let byte = next else { throw error("a string does not end") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): collected.append(byte)
    case UInt8(ascii: "b"): collected.append(0x08)
    case UInt8(ascii: "f"): collected.append(0x0C)
    case UInt8(ascii: "n"): collected.append(0x0A)
    case UInt8(ascii: "r"): collected.append(0x0D)
    case UInt8(ascii: "t"): collected.append(0x09)
    case UInt8(ascii: "u"):
      let scalar = try unicodeEscape()
      collected.append(contentsOf: scalar.utf8)
    default:
      position -= 1
      throw error("an unknown escape")
    }
  }

  private mutating func unicodeEscape() throws(JSONSyntaxError) -> Unicode.Scalar {
    let first = try hexUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    let end = position
    if first < 0xDC00, next == UInt8(ascii: "\\") {
      position += 1
      if next == UInt8(ascii: "u") {
        position += 1
        let second = try hexUnit()
        if second >= 0xDC00, second <= 0xDFFF,
          let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        {
          return scalar
        }
      }
    }
    guard leniency == .server else { throw error("a lone surrogate") }
    // The next escape is read separately.
    position = end
    return "\u{FFFD}"
  }

  private mutating func hexUnit() throws(JSONSyntaxError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
        throw error("four hexadecimal digits are expected")
      }
      unit = unit << 4 | UInt32(digit)
      position += 1
    }
    return unit
  }
}
