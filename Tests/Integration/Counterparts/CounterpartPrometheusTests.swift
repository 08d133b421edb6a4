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
    for _ in 1...3 { try line.call("daemon.info") }
    return (desk, port)
  }

  @Test("Prometheus scrapes the daemon and finds its numbers")
  func scrape() throws {
    try Counterpart.require("/usr/bin/prometheus", package: "prometheus")
    let (desk, port) = try desk()
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
    defer { _ = prometheus.exit(within: 0) }
    func query(_ text: String) throws -> [JSON] {
      let run = try Counterpart.run(
        "/usr/bin/curl",
        ["-s", "--max-time", "10", "-G", "http://127.0.0.1:\(web)/api/v1/query", "--data-urlencode", "query=\(text)"],
        in: desk)
      guard run.status == 0, let json = try? JSONParser.parse(run.output) else { return [] }
      return json["data"]?["result"]?.arrayValue ?? []
    }
    func value(_ text: String) throws -> String? { try query(text).first?["value"]?.arrayValue?.last?.stringValue }
    try eventually("Prometheus has scraped the daemon: \(log.path)", within: 120) {
      if let status = prometheus.exit(within: 0) {
        throw Program.Failure(description: "prometheus ended with \(status): \(prometheus.logText)")
      }
      return try value("up{job=\"sdkd\"}") == "1"
    }
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
