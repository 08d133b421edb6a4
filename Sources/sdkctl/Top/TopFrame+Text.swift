import JSONRPC
import SDKProtocol

extension TopFrame {
  /// Returns the summary for people: calls, clients, instances, providers, vendors, the store and the process.
  func summary(at time: Timestamp) -> Table {
    var rows: [[Table.Cell]] = [
      row("sdkd", [version] + (uptime(at: time.secondsSince1970).map { ["up \(Elapsed.text(seconds: $0))"] } ?? [])),
      row("calls", callWords), row("clients", clientWords), row("instances", instanceWords),
      [.init("providers", .bold), .init(providerWords.joined(separator: ", "), isFailing ? .bad : .plain)],
    ]
    rows += [row("vendors", vendorWords), row("store", storeWords), row("process", processWords)]
    return Table(header: [], rows: rows)
  }

  private func row(_ name: String, _ words: [String]) -> [Table.Cell] {
    [.init(name, .bold), .init(words.joined(separator: ", "))]
  }

  private var callWords: [String] {
    let calls = rate("sdkd_calls_total")
    let errors = max(0, calls - rate("sdkd_calls_total", ["outcome": "ok"]))
    return [
      "\(Figure.number(calls))/s", "\(Figure.number(errors))/s failed",
      "\(Figure.number(level("sdkd_calls_in_flight"))) in flight",
    ]
  }

  /// Returns a level with the name of what it counts.
  private func count(_ family: String, _ name: String) -> String {
    let count = level(family)
    return "\(Figure.number(count)) \(name)\(count == 1 ? "" : "s")"
  }

  private var clientWords: [String] {
    var words = [
      count("sdkd_connections", "connection"),
      count("sdkd_delegates_attached", "delegate"),
      "\(Figure.number(rate("sdkd_events_total"))) events/s",
    ]
    let refused = rate("sdkd_connections_refused_total")
    if refused > 0 { words.append("\(Figure.number(refused))/s refused") }
    return words
  }

  private var instanceWords: [String] {
    let states = levels("sdkd_instances", by: "state").filter { $0.value > 0 }
    let broken = level("sdkd_instances_quarantined")
    return ["\(Figure.number(level("sdkd_instances")))"] + states.map { "\(Figure.number($0.value)) \($0.name)" }
      + (broken > 0 ? ["\(Figure.number(broken)) quarantined"] : [])
  }

  private var isFailing: Bool { level("sdkd_provider_breakers", ["state": "open"]) > 0 }

  private var providerWords: [String] {
    func providers(_ state: String) -> String {
      "\(Figure.number(level("sdkd_providers", ["state": state]))) \(state)"
    }
    func breakers(_ state: String) -> String {
      Figure.number(level("sdkd_provider_breakers", ["state": state]))
    }
    return [
      providers("running"), providers("long"), providers("waiting"),
      "breakers: \(breakers("open")) open, \(breakers("halfOpen")) halfOpen",
    ] + rates("sdkd_provider_runs_total", by: "exit").map { "\(Figure.number($0.value))/s \($0.name)" }
  }

  private var vendorWords: [String] {
    ["\(Figure.number(rate("sdkd_vendor_requests_total"))) requests/s"]
      + rates("sdkd_vendor_requests_total", by: "status").map { "\(Figure.number($0.value))/s \($0.name)" }
      + ["p99 \(Figure.latency(quantile(0.99, of: "sdkd_vendor_request_duration_seconds")))"]
  }

  private var storeWords: [String] {
    var words = [
      "\(Figure.number(rate("sdkd_store_transactions_total"))) transactions/s",
      "p99 \(Figure.latency(quantile(0.99, of: "sdkd_store_transaction_duration_seconds")))",
      "\(Figure.number(level("sdkd_store_changes_waiting"))) changes waiting",
    ]
    let failed = rate("sdkd_store_changes_failed_total")
    if failed > 0 { words.append("\(Figure.number(failed))/s failed") }
    return words
  }

  private var processWords: [String] {
    [
      "\(Figure.number(rate("process_cpu_seconds_total") * 100)) % processor",
      Figure.bytes(level("process_resident_memory_bytes")),
      "\(Figure.number(level("process_open_fds"))) of \(Figure.number(level("process_max_fds"))) files",
    ]
  }

  /// The methods for people, the busiest first.
  var methodTable: Table {
    Table(
      header: ["METHOD", "CALLS/S", "FAILED/S", "P50", "P99", "TOTAL"],
      rows: methods.map { method in
        [
          .init(method.name), .init(Figure.number(method.callsPerSecond)),
          .init(Figure.number(method.errorsPerSecond), method.errorsPerSecond > 0 ? .doubtful : .plain),
          .init(Figure.latency(method.p50)), .init(Figure.latency(method.p99)), .init(Figure.number(method.total)),
        ]
      })
  }

  /// The frame as JSON.
  var json: JSON {
    func object(_ pairs: [(name: String, value: Double)]) -> JSON {
      .object(JSONObject(pairs.map { ($0.name, JSON($0.value)) }))
    }
    return [
      "version": .string(version), "callsPerSecond": JSON(rate("sdkd_calls_total")),
      "callsInFlight": JSON(level("sdkd_calls_in_flight")), "connections": JSON(level("sdkd_connections")),
      "eventsPerSecond": JSON(rate("sdkd_events_total")),
      "instances": object(levels("sdkd_instances", by: "state")),
      "providers": object(levels("sdkd_providers", by: "state")),
      "breakers": object(levels("sdkd_provider_breakers", by: "state")),
      "methods": .array(
        methods.map { method in
          var json: JSONObject = [
            "method": .string(method.name), "callsPerSecond": JSON(method.callsPerSecond),
            "failedPerSecond": JSON(method.errorsPerSecond), "total": JSON(method.total),
          ]
          if let p50 = method.p50 { json["p50"] = JSON(p50) }
          if let p99 = method.p99 { json["p99"] = JSON(p99) }
          return .object(json)
        }),
    ]
  }
}
