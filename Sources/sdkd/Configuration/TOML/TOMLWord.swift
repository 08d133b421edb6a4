import JSONRPC

/// A value without quotes and brackets.
enum TOMLWord: Equatable {
  /// `true`, `false` or a number.
  case value(JSON)
  /// A date or a time, or the start of one.
  case date
  /// An infinity or not-a-number.
  case infinite
  /// A number that neither 64 bits nor a finite `Double` can hold.
  case tooLarge
  /// A word that is invalid in TOML.
  case wrong

  /// The longest number that is accepted, in bytes.
  private static let maximumBytes = 160

  init(_ word: ArraySlice<UInt8>) {
    let text = String(decoding: word, as: UTF8.self)
    let unsigned = text.first == "+" || text.first == "-" ? text.dropFirst() : text[...]
    if text == "true" || text == "false" {
      self = .value(.bool(text == "true"))
    } else if unsigned == "inf" || unsigned == "nan" {
      self = .infinite
    } else if text.utf8.count > Self.maximumBytes {
      self = .wrong
    } else if Self.isInteger(text) || Self.isDecimal(unsigned) {
      self = Self.number(text).map(TOMLWord.value) ?? .tooLarge
    } else if text.first?.isNumber == true, text.contains(":") || text.dropFirst(4).first == "-" {
      self = .date
    } else {
      self = .wrong
    }
  }

  /// Returns the value of a valid number; `nil` if it is too large.
  private static func number(_ text: String) -> JSON? {
    let digits = text.filter { $0 != "_" }
    let radix = ["0x": 16, "0o": 8, "0b": 2][digits.prefix(2)]
    if let radix { return Int(digits.dropFirst(2), radix: radix).map { JSON($0) } }
    if !digits.contains(where: { ".eE".contains($0) }) { return Int(digits).map { JSON($0) } }
    guard let number = Double(digits), number.isFinite else { return nil }
    return JSON(number)
  }

  /// Returns whether the text is an integer with a prefix, `0x`, `0o` or `0b`; such numbers have no sign.
  private static func isInteger(_ text: String) -> Bool {
    switch text.prefix(2) {
    case "0x": isDigits(text.dropFirst(2)) { $0.isHexDigit }
    case "0o": isDigits(text.dropFirst(2)) { ("0"..."7").contains($0) }
    case "0b": isDigits(text.dropFirst(2)) { $0 == "0" || $0 == "1" }
    default: false
    }
  }

  /// Returns whether the text is a decimal integer or fraction without a sign.
  private static func isDecimal(_ text: Substring) -> Bool {
    let exponent = text.firstIndex { $0 == "e" || $0 == "E" }
    let mantissa = text[..<(exponent ?? text.endIndex)]
    if let exponent {
      var power = text[text.index(after: exponent)...]
      if power.first == "+" || power.first == "-" { power = power.dropFirst() }
      guard isDigits(power, isDigit) else { return false }
    }
    let parts = mantissa.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = parts.first, isDigits(whole, isDigit), whole.count == 1 || whole.first != "0" else {
      return false
    }
    return parts.count == 1 || isDigits(parts[1], isDigit)
  }

  /// Returns whether the text consists of digits with single underscores between them.
  private static func isDigits(_ text: Substring, _ isDigit: (Character) -> Bool) -> Bool {
    text.split(separator: "_", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty && $0.allSatisfy(isDigit) }
  }

  private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }
}
