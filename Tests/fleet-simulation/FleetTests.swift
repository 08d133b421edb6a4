import Foundation
import Testing

@testable import fleet_simulation

@Suite struct FleetTests {
  @Test(arguments: Scenario.all)
  func theFleetComesBackSpreadOutAndSoon(scenario: Scenario) throws {
    let count = 1000
    let fleet = Fleet.run(scenario, daemons: count, seed: 11, make: DaemonClient.init)
    let fixed = Fleet.run(scenario, daemons: count, seed: 11, make: FixedClient.init)
    let back = scenario.outage.upperBound
    // A tenth of the life is what chance spreads renewals over when all logged in together; else all of it up to then.
    let steady =
      Double(count)
      / (scenario.logins < scenario.lifetime ? scenario.logins + 0.1 * scenario.lifetime : 0.85 * scenario.lifetime)
    #expect(fleet.peak(back..<scenario.duration) <= 12 * steady)
    #expect(fleet.peak(scenario.outage) <= 18 * steady)
    #expect(fixed.peak(scenario.outage) >= 4 * fleet.peak(scenario.outage))
    // The longest pause and the interval before it.
    #expect(try #require(fleet.lastRecovery) <= back + 310)
    #expect(fleet.counts.reduce(0, +) < fixed.counts.reduce(0, +))
  }

  @Test func withoutAnOutageNobodyFailsAndNothingLapses() {
    var scenario = Scenario.sameMinute
    scenario.outage = 0..<0
    let fleet = Fleet.run(scenario, daemons: 500, seed: 5, make: DaemonClient.init)
    #expect(fleet.lastRecovery == nil)
    #expect(fleet.lapses == 0)
    // A login and two renewals, the second of which may lie past the end.
    #expect((1000...1500).contains(fleet.counts.reduce(0, +)))
  }

  @Test func theSameSeedGivesTheSameCurve() {
    func curve(_ seed: UInt64) -> Arrivals {
      Fleet.run(.sameMinute, daemons: 200, seed: seed, make: DaemonClient.init)
    }
    #expect(curve(1) == curve(1))
    #expect(curve(1) != curve(2))
  }

  @Test func theFilesOfTheDocumentationAreTheProgramsOwn() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Packaging/documentation")
    func file(_ name: String) throws -> String {
      try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }
    let report = FleetReport(daemons: 10_000, seed: 1)
    let command = "make it anew: swift run fleet-simulation"
    #expect(try file("fleet/arrivals.csv") == report.csv, "\(command)")
    #expect(try file("fleet/arrivals.svg") == report.svg, "\(command)")
    #expect(try file("fleet.md").contains(report.summary), "\(command), and put what it prints into fleet.md")
  }

  @Test(arguments: [(0.04, 1, "0.0"), (12.35, 1, "12.4"), (-3.5, 1, "-3.5"), (1999.96, 1, "2000.0"), (7.5, 0, "8")])
  func numbersAreWrittenWithTheirDigits(number: Double, digits: Int, text: String) {
    #expect(Decimals.text(number, digits) == text)
  }
}
