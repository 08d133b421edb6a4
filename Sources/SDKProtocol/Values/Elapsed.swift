/// Durations for people.
package enum Elapsed {
  /// Returns a duration in its two largest units, such as `250 ms`, `42 s`, `5 min`, `3 h 20 min`, `12 d 4 h`.
  package static func text(seconds: Double) -> String {
    guard seconds.isFinite, abs(seconds) < 1e12 else { return "?" }
    if seconds < 0 { return "-" + text(seconds: -seconds) }
    if seconds < 1 { return "\(Int(seconds * 1000)) ms" }
    let whole = Int(seconds)
    func join(_ large: String, _ small: Int, _ unit: String) -> String {
      small == 0 ? large : "\(large) \(small) \(unit)"
    }
    switch whole {
    case ..<60: return "\(whole) s"
    case ..<3600: return join("\(whole / 60) min", whole < 600 ? whole % 60 : 0, "s")
    case ..<86_400: return join("\(whole / 3600) h", whole / 60 % 60, "min")
    default: return join("\(whole / 86_400) d", whole / 3600 % 24, "h")
    }
  }
}
