/// A scenario: when a fleet logs in and when its vendor is down. All times are in seconds.
struct Scenario: Sendable, Hashable {
  /// The name in files.
  var name: String
  /// The title in the plot.
  var title: String
  /// The lifetime of a token.
  var lifetime = 3600.0
  /// The period in which all logins happen, spread evenly at random.
  var logins: Double
  /// The period in which the vendor fails all requests.
  var outage: Range<Double>
  /// The duration of the simulation.
  var duration: Double

  /// All clients log in within a minute, as after a power cut. The vendor goes down when the first renewal is due.
  static let sameMinute = Scenario(
    name: "same-minute", title: "All logged in within the same minute", logins: 60, outage: 2880..<3480,
    duration: 7200)

  /// Logins are spread over an hour. The vendor goes down after the fleet has settled into even traffic.
  static let spread = Scenario(
    name: "spread", title: "Logins spread over an hour", logins: 3600, outage: 7200..<7800, duration: 10_800)

  static let all = [sameMinute, spread]
}
