import SDKProtocol

/// A line of the daemon's standard error: a time and a level, or `<n>`; then `key=value` pairs and a message.
///
/// It is read as scalars. Characters, and texts that are compared, would be normalized first, which takes quadratic time
/// for a long run of combining marks.
struct LogLine {
  private typealias Text = Substring.UnicodeScalarView

  /// The time; `nil` in the form with `<n>`, where the journal keeps the time.
  var time: Timestamp?
  /// The pairs, in order.
  var pairs: [(key: String, value: String)] = []
  /// The level, such as `warning`.
  var level = "info"
  /// The message after the pairs.
  var message = ""

  /// Parses a line; `nil` for a line of another form.
  init?(_ line: String) {
    var rest = Substring(line).unicodeScalars
    if rest.first == "<" {
      guard let end = rest.firstIndex(of: ">") else { return nil }
      rest = rest[rest.index(after: end)...]
    } else {
      let words = rest.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
      guard words.count == 3, words[0].allSatisfy(\.isASCII), words[1].allSatisfy(\.isASCII),
        let time = Timestamp(String(words[0]))
      else { return nil }
      self.time = time
      level = String(words[1])
      rest = words[2]
    }
    while let pair = Self.pair(&rest) { pairs.append(pair) }
    message = Self.plain(rest)
  }

  private static func pair(_ rest: inout Text) -> (key: String, value: String)? {
    guard let equals = rest.firstIndex(of: "="), equals != rest.startIndex,
      rest[..<equals].allSatisfy({ $0.value > 0x20 && $0.value < 0x7F && $0 != "\"" })
    else { return nil }
    let key = String(rest[..<equals])
    var value = rest[rest.index(after: equals)...]
    let end: Text.Index
    if value.first == "\"" {
      value = value.dropFirst()
      guard let quote = closingQuote(of: value) else { return nil }
      end = value.index(after: quote)
      value = value[..<quote]
    } else {
      end = value.firstIndex(of: " ") ?? value.endIndex
      value = value[..<end]
    }
    guard end < rest.endIndex, rest[end] == " " else { return nil }
    rest = rest[rest.index(after: end)...]
    return (key, plain(value))
  }

  private static func closingQuote(of text: Text) -> Text.Index? {
    var isEscaped = false
    for index in text.indices {
      if isEscaped {
        isEscaped = false
      } else if text[index] == "\\" {
        isEscaped = true
      } else if text[index] == "\"" {
        return index
      }
    }
    return nil
  }

  /// Decodes the daemon's escapes: `\n`, `\r`, `\t`, `\"`, `\\`, `\u{…}`.
  private static func plain(_ text: Text) -> String {
    guard text.contains("\\") else { return String(text) }
    var plain = String.UnicodeScalarView()
    var rest = text
    while let scalar = rest.popFirst() {
      guard scalar == "\\", let next = rest.popFirst() else {
        plain.append(scalar)
        continue
      }
      switch next {
      case "n": plain.append("\n")
      case "r": plain.append("\r")
      case "t": plain.append("\t")
      case "u" where rest.first == "{":
        let digits = rest.dropFirst().prefix { $0 != "}" }
        rest = rest.dropFirst(digits.count + 2)
        if let scalar = UInt32(String(digits), radix: 16).flatMap(Unicode.Scalar.init) { plain.append(scalar) }
      default: plain.append(next)
      }
    }
    return String(plain)
  }
}
