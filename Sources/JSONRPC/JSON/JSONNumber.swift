/// A JSON number that keeps its spelling: `1.0`, `1e0` and `1` are three different values.
public struct JSONNumber: Sendable, Hashable {
  /// The number as written, valid under the JSON grammar.
  public let text: String

  /// Makes a number from an integer, in decimal.
  public init(_ value: Int) { text = String(value) }

  /// Makes a number from a finite double, in its shortest exact spelling. Whole numbers below 1e15 in magnitude get no
  /// fraction.
  public init(_ value: Double) {
    if value == value.rounded(), abs(value) < 1e15 {
      text = String(Int64(value))
    } else {
      text = value.isFinite ? "\(value)" : "0"
    }
  }

  /// Makes a number from a text whose grammar the caller has checked, such as the parser.
  init(checked text: String) { self.text = text }

  /// The value as an integer. `nil` if it has a fraction or doesn't fit; with a point or an exponent, values beyond
  /// ±2^53 don't fit.
  public var integer: Int? {
    if let exact = Int(text) { return exact }
    guard let double, double == double.rounded(), abs(double) <= 9_007_199_254_740_992 else { return nil }
    return Int(double)
  }

  /// The nearest double; `nil` if the number is too large for one.
  public var double: Double? {
    guard let value = Double(text), value.isFinite else { return nil }
    return value
  }
}
