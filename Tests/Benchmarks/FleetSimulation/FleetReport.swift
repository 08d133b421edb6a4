/// The results of the simulation, as the contents of files.
struct FleetReport {
  /// The arrivals with one retry strategy, in all scenarios.
  struct Curve {
    var name: String
    var title: String
    var arrivals: [Arrivals]
  }

  let scenarios: [Scenario]
  let curves: [Curve]
  private let daemons: Int

  init(daemons: Int, seed: UInt64, scenarios: [Scenario] = Scenario.all) {
    self.scenarios = scenarios
    self.daemons = daemons
    func run<C: Client>(_ make: () -> C) -> [Arrivals] {
      scenarios.map { Fleet.run($0, daemons: daemons, seed: seed, make: make) }
    }
    curves = [
      Curve(name: "sdkd", title: "sdkd", arrivals: run(DaemonClient.init)),
      Curve(name: "fixed", title: "again every 5 s", arrivals: run(FixedClient.init)),
      Curve(name: "exponential", title: "exponential, no jitter", arrivals: run(ExponentialClient.init)),
    ]
  }

  /// The requests per second in each bin, as CSV.
  var csv: String {
    var lines = ["scenario,second," + curves.map(\.name).joined(separator: ",")]
    for (index, scenario) in scenarios.enumerated() {
      for bin in curves[0].arrivals[index].counts.indices {
        let rates = curves.map { Decimals.text($0.arrivals[index].rate(bin), 1) }
        lines.append("\(scenario.name),\(bin * Int(Arrivals.width)),\(rates.joined(separator: ","))")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The curves as SVG.
  var svg: String {
    CurvePlot(
      panels: scenarios.enumerated().map { index, scenario in
        CurvePlot.Panel(
          title: scenario.title, shaded: scenario.outage, from: scenario.outage.lowerBound - 600,
          to: scenario.outage.upperBound + 1200,
          curves: curves.map { curve in
            CurvePlot.Curve(
              title: curve.title,
              points: curve.arrivals[index].counts.indices.map {
                (Double($0) * Arrivals.width, curve.arrivals[index].rate($0))
              })
          })
      }, heading: "Requests at the vendor, \(daemons) daemons, vendor down for ten minutes"
    ).text
  }

  /// The key figures as a Markdown table.
  var summary: String {
    var lines = ["| scenario | client | before | while down, peak | after, peak | all renewed after | lapses |"]
    lines.append("|---|---|---|---|---|---|---|")
    for (index, scenario) in scenarios.enumerated() {
      for curve in curves {
        let arrivals = curve.arrivals[index]
        let outage = scenario.outage
        let before = arrivals.mean((outage.lowerBound - 600)..<outage.lowerBound)
        let recovered = arrivals.lastRecovery.map { "\(Decimals.text($0 - outage.upperBound, 0)) s" } ?? "none failed"
        lines.append(
          "| \(scenario.name) | \(curve.title) | \(Decimals.text(before, 1))/s "
            + "| \(Decimals.text(arrivals.peak(outage), 1))/s "
            + "| \(Decimals.text(arrivals.peak(outage.upperBound..<(outage.upperBound + 900)), 1))/s "
            + "| \(recovered) | \(arrivals.lapses) |")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
