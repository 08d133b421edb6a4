import Foundation
import Glibc
import JSONRPC
import OpenMetrics
import Testing

/// The metrics of the real daemon.
@Suite struct MetricsTests {
  private func metrics(_ line: Line) throws -> MetricsReading {
    try MetricsReading(try line.call("daemon.metrics")["text"]?.stringValue ?? "")
  }

  @Test func aForeignReaderFindsTheTextSound() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, provider: try desk.mintingProvider())
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    try line.call("token.refresh", ["instance": "desk"])
    _ = try line.failure("token.get", ["instance": "nobody"])
    let result = try line.call("daemon.metrics")
    #expect(result["contentType"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
    let text = try desk.write("text", result["text"]?.stringValue ?? "")
    let script = try desk.write(
      "read.py",
      """
      import sys
      from prometheus_client.openmetrics.parser import text_string_to_metric_families
      for family in text_string_to_metric_families(open(sys.argv[1]).read()):
          print(family.name, family.type, family.unit, int(sum(s.value for s in family.samples if s.name.endswith("_count"))))
      """)
    let seen = try Vendor.output("/usr/bin/python3", [script.path, text.path]).split(separator: "\n").map(String.init)
    for expected in [
      "sdkd_calls counter  0", "sdkd_instances gauge  0", "sdkd_build info  0", "process_cpu_seconds counter seconds 0",
      "sdkd_connections gauge  0", "sdkd_events counter  0", "sdkd_event_lag gauge  0", "sdkd_event_gaps counter  0",
    ] { #expect(seen.contains(expected), "\(expected): \(seen)") }
    let transactions = seen.first { $0.hasPrefix("sdkd_store_transaction_duration_seconds histogram seconds ") }
    #expect(transactions.map { !$0.hasSuffix(" 0") } == true)
    #expect(seen.contains { $0.hasPrefix("sdkd_call_duration_seconds histogram seconds ") })
    #expect(seen.contains("sdkd_provider_run_duration_seconds histogram seconds 1"))
    // The text contains no ids, tokens, users or paths.
    for word in ["alice", "\"desk\"", "eyJ", desk.folder.path] {
      #expect(result["text"]?.stringValue?.contains(word) == false, "\(word)")
    }
  }

  @Test("Each limit is a gauge, with the value that daemon.info tells, also after a reload")
  func limits() throws {
    let others = "max_in_flight = 7\nframe_timeout = \"1.5m\"\nbuffered_bytes_per_uid = \"2MiB\"\n"
    func settings(_ connections: Int) -> String {
      "[limits]\nconnections = \(connections)\n\(others)[bridge]\nmax_concurrent = 3\n"
    }
    let desk = try Desk.open(configuration: settings(5))
    let line = try desk.connect()
    let set = ["max_in_flight": 7.0, "frame_timeout": 90, "buffered_bytes_per_uid": 2_097_152, "max_concurrent": 3]
    for connections in [5, 6] {
      try desk.write("sdkd.toml", settings(connections))
      try line.call("daemon.reload")
      let metrics = try metrics(line)
      func gauge(_ name: String) -> Double { metrics.sum("sdkd_limit", ["name": name]) }
      for (name, value) in set { #expect(gauge(name) == value, "\(name)") }
      #expect(gauge("connections") == Double(connections))
      let told = try #require(try line.call("daemon.info")["limits"]?.objectValue)
      for member in told.members where member.key != "callBurst" {
        // maxInFlight is max_in_flight there.
        let name = member.key.map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
        #expect(gauge(name) == member.value.doubleValue, "\(name)")
      }
      #expect(told.members.count == metrics["sdkd_limit"].count - 2 + 1, "without two of bridge, with callBurst")
    }
  }

  @Test func callsAreCountedByMethodAndOutcome() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    for _ in 0..<25 { try line.call("token.get", ["instance": "desk"]) }
    for _ in 0..<3 { _ = try line.failure("token.get", ["instance": "nobody"]) }
    for _ in 0..<2 { _ = try line.failure("token.get", ["instanze": "desk"]) }
    for number in 0..<4 { _ = try line.failure("no.method\(number)") }
    let metrics = try metrics(line)
    func calls(_ method: String, _ outcome: String) -> Double {
      metrics.sum("sdkd_calls_total", ["method": method, "outcome": outcome])
    }
    #expect(calls("token.get", "ok") == 25)
    #expect(calls("token.get", "instanceNotFound") == 3)
    #expect(calls("token.get", "invalidParams") == 2)
    #expect(calls("instance.create", "ok") == 1)
    #expect(calls("", "methodNotFound") == 4)
    // Calls that were refused before they were accepted are missing from the histogram of durations.
    #expect(metrics.sum("sdkd_call_duration_seconds_count", ["method": "token.get"]) == 28)
    let fastest = HistogramReading("sdkd_call_duration_seconds", ["method": "token.get"], in: metrics)
    #expect((fastest.quantile(0.5) ?? 1) < 0.1)
    #expect(metrics.sum("sdkd_connections", ["role": "admin"]) == 1)
    #expect(metrics.sum("sdkd_calls_in_flight") == 1, "the one that asks")
    #expect(metrics.sum("sdkd_instances", ["kind": "zendesk.messaging", "state": "authenticated"]) == 1)
    #expect(metrics.sum("sdkd_instances") == 1)
    #expect(metrics.sum("sdkd_events_total", ["type": "userLoggedIn"]) == 1)
    #expect(metrics.sum("sdkd_store_transactions_total", ["outcome": "ok"]) >= 2)
    #expect(metrics.sum("sdkd_vendor_requests_total", ["status": "2xx"]) >= 1)
    #expect(metrics.sum("process_resident_memory_bytes") > 1_000_000)
    #expect(metrics.sum("process_open_fds") > 3)
    #expect(abs(metrics.sum("process_start_time_seconds") - Date().timeIntervalSince1970) < 600)
    #expect(metrics.sum("sdkd_metrics_rejected_total") == 0)
  }

  @Test func connectionsComeAndGo() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    do {
      let others = try (0..<5).map { _ in try desk.connect() }
      for other in others { try other.call("daemon.info") }
      #expect(try metrics(line).sum("sdkd_connections") == 6)
    }
    try eventually("they have gone") { try metrics(line).sum("sdkd_connections") == 1 }
    #expect(try metrics(line).sum("sdkd_connections_opened_total") == 6)
    let subscriber = try desk.connect()
    try subscriber.call("events.subscribe")
    #expect(try metrics(line).sum("sdkd_subscriptions") == 1)
  }

  @Test func providersAreCountedByTheirEnd() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    for (name, script) in [
      ("one", "exit 1"), ("later", "exit 75"), ("no", "exit 77"), ("killed", "kill -9 $$"), ("garbage", "echo 'a b'"),
    ] {
      let provider = try desk.provider(script, name: name)
      try desk.create(name, on: line, provider: provider)
      try line.call("messaging.loginUser", ["instance": .string(name), "jwt": .string(try Vendor.mint("u-\(name)"))])
      _ = try line.failure("token.refresh", ["instance": .string(name)])
    }
    try desk.create("good", on: line, provider: try desk.mintingProvider())
    try line.call("messaging.loginUser", ["instance": "good", "jwt": .string(try Vendor.mint("good"))])
    try line.call("token.refresh", ["instance": "good"])
    let metrics = try metrics(line)
    let runs = metrics.sums("sdkd_provider_runs_total", by: "exit")
    for exit in ["failed", "later", "denied", "signal", "invalidOutput", "answered"] {
      #expect((runs[exit] ?? 0) >= 1, "\(exit): \(runs)")
    }
    #expect(runs["answered"] == 1)
    #expect(metrics.sum("sdkd_provider_run_duration_seconds_count") == runs.values.reduce(0, +))
    #expect(metrics.sum("sdkd_provider_breakers", ["state": "closed"]) >= 2)
    #expect(metrics.sum("sdkd_providers") == 0)
    #expect(metrics.sum("sdkd_refreshes_total", ["trigger": "refresh", "outcome": "ok"]) == 1)
    #expect(metrics.sum("sdkd_refreshes_total", ["trigger": "refresh", "outcome": "providerDenied"]) == 1)
    #expect(metrics.sum("sdkd_refreshes_total", ["trigger": "refresh", "outcome": "providerFailed"]) == 3)
  }

  @Test(.enabled(if: getuid() == 0, "needs root to become somebody else"))
  func onlyAdminsMayReadThem() throws {
    let desk = try Desk.open()
    let script = try desk.write(
      "ask.py",
      """
      import os, socket, sys
      os.setgroups([]); os.setgid(65534); os.setuid(65534)
      s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); f = s.makefile("rwb")
      f.write(b'{"jsonrpc":"2.0","id":1,"method":"daemon.metrics"}\\n'); f.flush()
      print(f.readline().decode())
      """)
    chmod(desk.folder.path, 0o755)
    let answer = try JSONParser.parse(try Vendor.output("/usr/bin/python3", [script.path, desk.socket]))
    #expect(answer["error"]?["data"]?["reason"] == "accessDenied")
    #expect(answer["result"] == nil)
    let line = try desk.connect()
    #expect(try metrics(line).sum("sdkd_calls_total", ["method": "daemon.metrics", "outcome": "accessDenied"]) == 1)
    #expect(try metrics(line).sum("sdkd_connections_opened_total", ["role": "other"]) == 1)
  }
}
