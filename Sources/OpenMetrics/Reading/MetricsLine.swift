/// A parser of one line of OpenMetrics text.
enum MetricsLine {
  /// Returns the name and the sample of a line; `nil` if the line is not a sample.
  static func read(_ line: Substring) -> (name: String, sample: MetricsReading.Sample)? {
    var rest = line.unicodeScalars[...]
    let name = take(while: { $0 != "{" && $0 != " " }, from: &rest)
    guard !name.isEmpty, let labels = labels(&rest), rest.first == " " else { return nil }
    rest.removeFirst()
    guard let value = number(take(while: { $0 != " " }, from: &rest)) else { return nil }
    return (name, .init(labels: labels, value: value))
  }

  private static func labels(_ rest: inout Substring.UnicodeScalarView) -> [String: String]? {
    var labels: [String: String] = [:]
    guard rest.first == "{" else { return labels }
    rest.removeFirst()
    while rest.first != "}" {
      let name = take(while: { $0 != "=" }, from: &rest)
      rest = rest.dropFirst()
      guard !name.isEmpty, let value = quoted(&rest) else { return nil }
      labels[name] = value
      if rest.first == "," { rest.removeFirst() } else if rest.first != "}" { return nil }
    }
    rest.removeFirst()
    return labels
  }

  private static func quoted(_ rest: inout Substring.UnicodeScalarView) -> String? {
    guard rest.popFirst() == "\"" else { return nil }
    var value = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\"": return String(value)
      case "\\":
        guard let escaped = rest.popFirst() else { return nil }
        value.append(escaped == "n" ? "\n" : escaped)
      default: value.append(scalar)
      }
    }
    return nil
  }

  private static func take(
    while isWanted: (Unicode.Scalar) -> Bool, from rest: inout Substring.UnicodeScalarView
  ) -> String {
    let part = rest.prefix(while: isWanted)
    rest = rest[part.endIndex...]
    return String(part)
  }

  private static func number(_ text: String) -> Double? {
    switch text {
    case "+Inf": .infinity
    case "-Inf": -.infinity
    default: Double(text)
    }
  }
}
