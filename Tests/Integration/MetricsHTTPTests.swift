import Foundation
import Glibc
import JSONRPC
import OpenMetrics
import Testing

/// The metrics over HTTP, from the real daemon.
@Suite struct MetricsHTTPTests {
  /// Opens a desk that serves its metrics on a port. Tries another port if a different process has taken the first.
  private func desk() throws -> (desk: Desk, port: UInt16) {
    for _ in 0..<5 {
      let (port, holder) = try RawHTTP.freePort()
      close(holder)
      let desk = try Desk.open(configuration: "[metrics]\nlisten = \"127.0.0.1:\(port)\"\n")
      let checks = try desk.connect().call("daemon.health")["checks"]?.arrayValue ?? []
      if checks.contains(where: { $0["name"] == "metrics" && $0["status"] == "ok" }) { return (desk, port) }
    }
    throw Program.Failure(description: "no port is free for long enough")
  }

  @Test func aPortOfLoopbackServesThem() throws {
    let (desk, port) = try desk()
    try desk.connect().call("daemon.info")
    let answer = try RawHTTP(port: port).ask(accept: "application/openmetrics-text; version=1.0.0, text/plain;q=0.5")
    #expect(answer.status == 200)
    #expect(answer.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
    #expect(answer.headers["content-length"] == "\(answer.body.utf8.count)")
    #expect(answer.body.hasSuffix("# EOF\n"))
    let reading = try MetricsReading(answer.body)
    #expect(reading.sum("sdkd_calls_total", ["method": "daemon.info", "outcome": "ok"]) == 1)

    for accept in [nil, "*/*", "text/plain, application/openmetrics-text;q=0.9", "application/json"] {
      let classic = try RawHTTP(port: port).ask(accept: accept)
      #expect(classic.status == 200)
      #expect(classic.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
      #expect(classic.body.contains("\n# TYPE sdkd_calls_total counter\n"))
      #expect(classic.body.contains("\nsdkd_calls_total{method=\"daemon.info\",outcome=\"ok\"} 1\n"))
      #expect(!classic.body.contains("# EOF") && !classic.body.contains("# UNIT"))
    }

    let head = try RawHTTP(port: port).ask("HEAD")
    #expect(head.status == 200 && head.body.isEmpty)
    #expect(try RawHTTP(port: port).ask("GET", "/metrics?name[]=up").status == 200)
    #expect(try RawHTTP(port: port).ask("GET", "/").status == 404)
    let post = try RawHTTP(port: port).ask("POST")
    #expect(post.status == 405 && post.headers["allow"] == "GET, HEAD")
  }

  @Test(
    "A request whose Host is not this machine gets nothing, as a web page's would",
    arguments: [
      ("localhost", 200), ("localhost:1", 200), ("127.0.0.1", 200), ("[::1]:9464", 200), ("LOCALHOST:80", 200),
      ("rebound.example.com", 421), ("127.0.0.1.example.com", 421), ("localhost.", 421), ("", 421),
      ("localhost:x", 421), ("[::1", 421), ("127.0.0.2", 421), ("a\r\nHost: localhost", 421), (nil, 421),
    ] as [(String?, Int)])
  func hosts(host: String?, status: Int) throws {
    let (desk, port) = try desk()
    let answer = try RawHTTP(port: port).ask(host: host)
    #expect(answer.status == status)
    #expect(answer.body.contains("sdkd_") == (status == 200))
    withExtendedLifetime(desk) {}
  }

  @Test func aSocketServesThemAndAStaleOneIsReplaced() throws {
    let desk = try Desk()
    let path = desk.folder.appendingPathComponent("m.sock").path
    try desk.write("sdkd.toml", "[metrics]\nlisten = \"\(path)\"\n")
    try desk.start()
    func ask() throws -> String {
      let line = try Line(path)
      line.send("GET /metrics HTTP/1.0\r\nAccept: application/openmetrics-text\r\n\r\n")
      #expect(try line.line()?.hasPrefix("HTTP/1.0 200") == true)
      while let text = try line.line() { if text == "# EOF" { return text } }
      return ""
    }
    #expect(try ask() == "# EOF")
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o660)
    try desk.crash()
    #expect(try ask() == "# EOF")
    desk.stop()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("The metrics have the checks of the health, and the first end of a credential whose renewal fails")
  func healthAndFailingCredentials() throws {
    let (desk, port) = try desk()
    let line = try desk.connect()
    func text() throws -> String { try RawHTTP(port: port).ask(accept: "application/openmetrics-text").body }
    let end = "sdkd_failing_credential_expiry_timestamp_seconds"
    #expect(try text().contains("\nsdkd_health_status{check=\"store\"} 0\n"))
    try desk.create(
      "desk", on: line, settings: ["refresh": ["mode": "lazy", "min_interval": 0]],
      provider: try desk.provider("exit 1"))
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice", ttl: 3600))])
    #expect(try !text().contains(end))
    _ = try line.failure("token.refresh", ["instance": "desk"])
    let left = try MetricsReading(text()).sum(end) - Date().timeIntervalSince1970
    #expect(left > 0 && left <= 3601)
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice", ttl: 7200))])
    #expect(try !text().contains(end))
  }

  @Test func aPortThatIsTakenDegradesTheDaemonAndNoMore() throws {
    let (port, holder) = try RawHTTP.freePort()
    defer { close(holder) }
    listen(holder, 1)
    let desk = try Desk.open(configuration: "[metrics]\nlisten = \"127.0.0.1:\(port)\"\n")
    let line = try desk.connect()
    let health = try line.call("daemon.health")
    #expect(health["status"] == "degraded")
    let check = health["checks"]?.arrayValue?.first { $0["name"] == "metrics" }
    #expect(check?["detail"]?.stringValue?.contains("another program has this port") == true)
    #expect(desk.logs.contains("another program has this port"))
    let text = try line.call("daemon.metrics")["text"]?.stringValue ?? ""
    #expect(text.contains("\nsdkd_health_status{check=\"metrics\"} 1\n"))
  }

  @Test(arguments: ["0.0.0.0:9464", "10.1.2.3:9464", "example.org:9464", "[::]:9464", "128.0.0.1:9464"])
  func othersThanThisMachineAreAMistake(address: String) throws {
    let desk = try Desk()
    try desk.write("sdkd.toml", "[metrics]\nlisten = \"\(address)\"\n")
    let check = try Program(
      "sdkd", ["--check", "--config", desk.configuration.path], output: desk.folder.appendingPathComponent("out"),
      log: desk.folder.appendingPathComponent("err"))
    #expect(check.exit(within: 30) == 78)
    #expect(check.logText.contains("sdkd.toml:2: metrics.listen: Metrics are served to this machine only"))
  }

  @Test func whoHoldsConnectionsOpenKeepsNobodyOut() throws {
    let (desk, port) = try desk()
    let idle = try (0..<64).map { _ in try RawHTTP(port: port) }
    defer { for one in idle { one.end() } }
    for one in idle { one.send("GET /met") }
    for _ in 0..<20 { #expect(try RawHTTP(port: port).ask().status == 200) }
    // Junk gets a response or a closed connection, and other clients are not affected.
    let junk = try RawHTTP(port: port)
    junk.send(String(repeating: "x", count: 300_000))
    #expect(try !junk.rest().contains("200 OK"))
    junk.end()
    let body = try RawHTTP(port: port)
    body.send("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n")
    body.send(String(repeating: "x", count: 100_000))
    _ = try body.rest()
    body.end()
    #expect(try RawHTTP(port: port).ask().status == 200)
    #expect(try desk.connect().call("daemon.info")["name"] == "sdkd")
    #expect(desk.stop() == 0)
  }

  @Test func aThousandScrapesLeaveNothingBehind() throws {
    let (desk, port) = try desk()
    let line = try desk.connect()
    func level(_ name: String) throws -> Double {
      try MetricsReading(try line.call("daemon.metrics")["text"]?.stringValue ?? "").sum(name)
    }
    for _ in 0..<200 { _ = try RawHTTP(port: port).ask() }
    let (memory, files) = (try level("process_resident_memory_bytes"), try level("process_open_fds"))
    for _ in 0..<1000 {
      #expect(try RawHTTP(port: port).ask(accept: "application/openmetrics-text").body.hasSuffix("# EOF\n"))
    }
    #expect(try level("process_resident_memory_bytes") < memory + 8 * 1_048_576)
    try eventually("the descriptors are back") { try level("process_open_fds") <= files }
  }
}
