/// What happens to a fleet: when it logged in and when its vendor is down. Seconds.
struct Scenario: Sendable, Hashable {
  /// The word for it in files.
  var name: String
  /// The words for it in the plot.
  var title: String
  /// How long a token lives.
  var lifetime = 3600.0
  /// All logins fall within this time, evenly.
  var logins: Double
  /// When the vendor answers nobody.
  var outage: Range<Double>
  /// How long it is watched.
  var duration: Double

  /// All log in within a minute, as after a power cut, and the vendor goes down when the first renewal is due.
  static let sameMinute = Scenario(
    name: "same-minute", title: "All logged in within the same minute", logins: 60, outage: 2880..<3480,
    duration: 7200)

  /// Logins are spread over an hour; the fleet is in its steady state when the vendor goes down.
  static let spread = Scenario(
    name: "spread", title: "Logins spread over an hour", logins: 3600, outage: 7200..<7800, duration: 10_800)

  static let all = [sameMinute, spread]
}
