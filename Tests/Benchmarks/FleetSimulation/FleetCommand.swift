import ArgumentParser
import Foundation

/// A comparison of the daemon's requests after a vendor's outage with those of clients that retry in simpler ways.
@main
struct FleetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet-simulation",
    abstract: "Simulates a fleet of daemons whose vendor is down for ten minutes, and draws who arrives there when.")

  @Option(help: "How many daemons there are.")
  var daemons = 10_000

  @Option(help: "The seed of chance; the same seed gives the same files.")
  var seed: UInt64 = 1

  @Argument(help: "The folder for arrivals.csv and arrivals.svg.")
  var folder = "Packaging/documentation/fleet"

  func validate() throws {
    guard (1...1_000_000).contains(daemons) else { throw ValidationError("There are 1 to 1000000 daemons.") }
  }

  func run() throws {
    let report = FleetReport(daemons: daemons, seed: seed)
    let url = URL(fileURLWithPath: folder)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try Data(report.csv.utf8).write(to: url.appendingPathComponent("arrivals.csv"))
    try Data(report.svg.utf8).write(to: url.appendingPathComponent("arrivals.svg"))
    print(report.summary, terminator: "")
  }
}

/// A scenario: when a fleet logs in and when its vendor is down. All times are in seconds.
struct Scenario: Sendable, Hashable {
  /// The short name of the scenario in the CSV file and the table.
  var name: String
  /// The title of the scenario's plot.
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
