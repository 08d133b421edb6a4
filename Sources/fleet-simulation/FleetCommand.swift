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
