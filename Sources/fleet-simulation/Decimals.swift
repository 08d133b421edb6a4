/// The formatting of numbers with a fixed number of decimals, the same on every machine.
enum Decimals {
  static func text(_ number: Double, _ digits: Int) -> String {
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let units = Int((abs(number) * Double(scale)).rounded())
    let sign = number < 0 && units > 0 ? "-" : ""
    guard digits > 0 else { return sign + String(units) }
    let fraction = String(units % scale)
    return "\(sign)\(units / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}
