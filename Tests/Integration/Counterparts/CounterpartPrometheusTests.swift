import Foundation
import Glibc
import JSONRPC
import Testing

/// The daemon's metrics, read by Prometheus and checked by its promtool.
@Suite struct CounterpartPrometheusTests {
  /// Opens a desk whose daemon serves its metrics, and makes some calls.
  private func desk() throws -> (desk: Desk, port: UInt16) {
    let port = try Nginx.freePorts(1)[0]
    let desk = try Desk.open(configuration: "[metrics]\nlisten = \"127.0.0.1:\(port)\"\n")
    let line = try desk.connect()
    try desk.create("desk", on: line, provider: try desk.mintingProvider())
    try desk.logIn(on: line)
    try line.call("token.refresh", ["instance": "desk"])
    try line.call("token.get", ["instance": "desk"])
    for _ in 1...3 { try line.call("daemon.info") }
    return (desk, port)
  }

  /// Starts Prometheus, and waits until it has scraped the daemon. Returns the program, and a function that runs a query
  /// and returns its series; `nil` if it is refused.
  private func prometheus(_ desk: Desk, _ port: UInt16) throws -> (Program, web: UInt16, (String) throws -> [JSON]?) {
    try Counterpart.require("/usr/bin/prometheus", package: "prometheus")
    let web = try Nginx.freePorts(1)[0]
    let configuration = try desk.write(
      "prometheus.yml",
      """
      global: { scrape_interval: 1s, scrape_timeout: 1s }
      scrape_configs: [{ job_name: sdkd, static_configs: [{ targets: ["127.0.0.1:\(port)"] }] }]
      """)
    let log = desk.folder.appendingPathComponent("prometheus.log")
    let prometheus = try Program(
      "/usr/bin/prometheus",
      [
        "--config.file=\(configuration.path)", "--storage.tsdb.path=\(desk.folder.path)/tsdb",
        "--web.listen-address=127.0.0.1:\(web)",
      ], output: log, log: log)
    func query(_ text: String) throws -> [JSON]? {
      let run = try Counterpart.run(
        "/usr/bin/curl",
        ["-s", "--max-time", "10", "-G", "http://127.0.0.1:\(web)/api/v1/query", "--data-urlencode", "query=\(text)"],
        in: desk)
      guard run.status == 0, let json = try? JSONParser.parse(run.output) else { return nil }
      return json["data"]?["result"]?.arrayValue
    }
    try eventually("Prometheus has scraped the daemon: \(log.path)", within: 120) {
      if let status = prometheus.exit(within: 0) {
        throw Program.Failure(description: "prometheus ended with \(status): \(prometheus.logText)")
      }
      return try query("up{job=\"sdkd\"} == 1")?.count == 1
    }
    return (prometheus, web, query)
  }

  @Test("Prometheus scrapes the daemon and finds its numbers")
  func scrape() throws {
    let (desk, port) = try desk()
    let (prometheus, web, query) = try prometheus(desk, port)
    defer { _ = prometheus.exit(within: 0) }
    func value(_ text: String) throws -> String? { try query(text)?.first?["value"]?.arrayValue?.last?.stringValue }
    #expect(try value("sdkd_calls_total{method=\"daemon.info\",outcome=\"ok\"}") == "3")
    #expect(try value("sum(sdkd_provider_runs_total)") == "1")
    #expect(try value("count({job=\"sdkd\",__name__=~\"sdkd_.+_info\"})") != nil)
    // Prometheus keeps types and help of an OpenMetrics exposition only if it could read all of it.
    let metadata = try Counterpart.run(
      "/usr/bin/curl", ["-s", "http://127.0.0.1:\(web)/api/v1/targets/metadata"], in: desk)
    let families = try JSONParser.parse(metadata.output)["data"]?.arrayValue ?? []
    let served = try RawHTTP(port: port).ask().body.split(separator: "\n").count { $0.hasPrefix("# TYPE") }
    #expect(served > 10)
    #expect(families.count >= served)
    #expect(families.allSatisfy { $0["help"]?.stringValue?.isEmpty == false && $0["type"] != "unknown" })
  }

  @Test("Each query of the Grafana dashboard finds numbers of the daemon, and its panels are whole")
  func dashboard() throws {
    let (desk, port) = try desk()
    let (prometheus, _, query) = try prometheus(desk, port)
    defer { _ = prometheus.exit(within: 0) }
    let path = Counterpart.script("../../../../Packaging/monitoring/sdkd.dashboard.json")
    let json = try JSONParser.parse(String(contentsOfFile: path, encoding: .utf8))
    let variables = json["templating"]?["list"]?.arrayValue?.compactMap { $0["name"]?.stringValue }
    #expect(json["uid"] == "sdkd" && json["schemaVersion"]?.intValue != nil && variables == ["datasource", "instance"])
    let panels = try #require(json["panels"]?.arrayValue)
    #expect(panels.count > 10 && Set(panels.map { $0["id"]?.intValue }).count == panels.count)
    var cells: Set<[Int]> = []
    for panel in panels {
      let title = panel["title"]?.stringValue ?? ""
      for member in ["title", "description", "type"] {
        #expect(panel[member]?.stringValue?.isEmpty == false, "\(title)")
      }
      #expect(panel["datasource"]?["uid"] == "${datasource}", "\(title)")
      let place = ["x", "y", "w", "h"].map { panel["gridPos"]?[$0]?.intValue ?? -1 }
      try #require(place.allSatisfy { $0 >= 0 } && place[2] * place[3] > 0 && place[0] + place[2] <= 24, "\(title)")
      for x in place[0]..<place[0] + place[2] {
        for y in place[1]..<place[1] + place[3] { #expect(cells.insert([x, y]).inserted, "\(title) is over another") }
      }
      let targets = panel["targets"]?.arrayValue ?? []
      #expect(!targets.isEmpty && Set(targets.map { $0["refId"]?.stringValue }).count == targets.count, "\(title)")
      for target in targets {
        let text = try #require(target["expr"]?.stringValue)
        #expect(text.contains("job=\"sdkd\",instance=~\"$instance\""), "\(title) mixes jobs or daemons: \(text)")
        let ready = text.replacing("$instance", with: ".+").replacing("$__rate_interval", with: "1m")
        #expect(!ready.contains("$"), "\(title): \(text)")
        // A rate needs two scrapes.
        try eventually("\(title) shows something: \(text)", within: 60) {
          try #require(try query(ready), "\(title) is refused: \(text)").isEmpty == false
        }
      }
    }
  }

  @Test("promtool finds nothing wrong with the classic text")
  func lint() throws {
    try Counterpart.require("/usr/bin/promtool", package: "prometheus")
    let (desk, port) = try desk()
    let file = try desk.write("metrics", RawHTTP(port: port).ask().body)
    let run = try Counterpart.run("/usr/bin/promtool", ["check", "metrics"], in: desk, input: file)
    #expect(run.status == 0, "\(run.output)")
    #expect(run.output.isEmpty)
  }

  @Test("The alert rules are sound, use metrics that exist, and fire when they should")
  func alerts() throws {
    try Counterpart.require("/usr/bin/promtool", package: "prometheus")
    let (desk, port) = try desk()
    let folder = URL(fileURLWithPath: Counterpart.script("../../../../Packaging/monitoring")).standardizedFileURL
    let rules = folder.appendingPathComponent("sdkd.rules.yml")
    for arguments in [
      ["check", "rules", "--lint-fatal", rules.path],
      ["test", "rules", folder.appendingPathComponent("sdkd.rules.test.yml").path],
    ] {
      let run = try Counterpart.run("/usr/bin/promtool", arguments, in: desk)
      #expect(run.status == 0, "\(run.output)")
    }
    // A gauge or counter without a value yet is not in the text, but in the table of the documentation.
    let served = try RawHTTP(port: port).ask().body
    let table = try String(
      contentsOf: folder.appendingPathComponent("../documentation/metrics.md").standardizedFileURL, encoding: .utf8)
    let text = try String(contentsOf: rules, encoding: .utf8)
    for name in Set(text.matches(of: /\b(?:sdkd|process)_[a-z_]+/).map { String($0.output) }) {
      let family = name.hasSuffix("_bucket") ? String(name.dropLast("_bucket".count)) : name
      #expect(served.contains("# TYPE \(family) ") || table.contains("| `\(family)` |"), "\(family)")
    }
  }
}
