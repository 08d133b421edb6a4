/// A number by its spelling: `1.0`, `1e0` and `1` stay three different texts.
public struct JSONNumber: Sendable, Hashable {
  /// The number as written, valid by the JSON grammar.
  public let text: String

  /// An integer, spelt in decimal.
  public init(_ value: Int) { text = String(value) }

  /// A finite double in its shortest exact spelling; whole numbers are spelt without a fraction.
  public init(_ value: Double) {
    if value == value.rounded(), abs(value) < 1e15 {
      text = String(Int64(value))
    } else {
      text = value.isFinite ? "\(value)" : "0"
    }
  }

  /// For the parser, which has checked the grammar.
  init(checked text: String) { self.text = text }

  /// The value when it is written as an integer, or as a decimal without a remainder, and fits.
  public var integer: Int? {
    if let exact = Int(text) { return exact }
    guard let double, double == double.rounded(), abs(double) <= 9_007_199_254_740_992 else { return nil }
    return Int(double)
  }

  /// The nearest double; `nil` when it is too large for one.
  public var double: Double? {
    guard let value = Double(text), value.isFinite else { return nil }
    return value
  }
}
