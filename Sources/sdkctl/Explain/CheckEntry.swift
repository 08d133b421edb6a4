import JSONRPC
import SDKProtocol

/// A status of a check of `daemon.health` with its explanation, as `sdkctl explain` and the operator's guide show it.
struct CheckEntry {
  /// The name of the check, such as `store`.
  let name: String
  /// The status that is explained.
  let status: DaemonHealth.Status
  /// The cause of the status.
  let cause: String
  /// What callers get meanwhile.
  let callers: String
  /// The next step for an operator; `nil` if there is nothing to do.
  var remedy: String?

  /// The row as a topic of `sdkctl explain`.
  var topic: Topic {
    Topic(
      type: "check", name: name,
      facts: [
        ("status", .string(status.rawValue)), ("cause", .string(cause)), ("callers", .string(callers)),
        ("remedy", remedy.map(JSON.string) ?? .null),
      ])
  }

  /// The table in `Packaging/documentation/operator-guide/states.md`, as Markdown.
  static var markdown: String {
    let head = ["| check | status | cause | callers get | what to do |", "|---|---|---|---|---|"]
    let rows = all.map { row in
      "| `\(row.name)` | \(row.status.rawValue) | \(row.cause) | \(row.callers) | \(row.remedy ?? "–") |"
    }
    return (head + rows).joined(separator: "\n") + "\n"
  }
}

/// The words of `daemon.health` as topics of `sdkctl explain`.
enum HealthTopics {
  /// The health, and its statuses.
  static var all: [Topic] {
    let statuses = DaemonHealth.Status.allCases
    let health = Topic(
      type: "health", name: "health",
      facts: [
        ("meaning", "What the daemon finds wrong with itself. sdkctl status shows it, sdkctl doctor says what to do."),
        ("statuses", .array(statuses.map { .string($0.rawValue) })),
        ("checks", .array(CheckEntry.all.map(\.name).uniqued.map(JSON.string))),
      ])
    return [health]
      + statuses.map { status in
        Topic(
          type: "health", name: status.rawValue,
          facts: [
            ("meaning", .string(status.meaning)),
            ("next", status == .ok ? .null : "sdkctl status names the check, sdkctl doctor what to do."),
          ])
      }
  }
}
