import ArgumentParser
import JSONRPC
import SDKProtocol

/// `sdkctl status`: the daemon, its health and its instances in short.
struct StatusVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the daemon, its health and how its instances are.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let info = try await context.ask(DaemonInfo.self, Empty())
    let health = try await context.ask(DaemonHealth.self, Empty())
    let instances = try await context.instances(InstanceList.Params())
    let status: JSON = [
      "daemon": info, "health": health,
      "instances": ["total": JSON(instances.count), "byState": .object(Self.counts(instances))],
    ]
    try context.presenter.show(status) { Self.table(status, now: .now) }
    if health["status"]?.stringValue == "failing" {
      throw CommandFailure(message: "The daemon is failing.", reason: "failing", status: 1)
    }
  }

  /// How many instances are in each state, by name.
  static func counts(_ instances: [JSON]) -> JSONObject {
    let states = instances.compactMap { $0["state"]?.stringValue }
    let counted = Dictionary(states.map { ($0, 1) }, uniquingKeysWith: +)
    return JSONObject(counted.sorted { $0.key < $1.key }.map { ($0.key, JSON($0.value)) })
  }

  /// The same for people.
  static func table(_ status: JSON, now: Timestamp) -> Table {
    func word(_ path: String...) -> String {
      path.reduce(status) { $0?[$1] }.map(MemberTable.word) ?? "?"
    }
    let program = "\(word("daemon", "name")) \(word("daemon", "version")), pid \(word("daemon", "pid"))"
    var rows: [[Table.Cell]] = [[.init("daemon", .bold), .init(program)]]
    if let started = status["daemon"]?["startedAt"]?.stringValue.flatMap(Timestamp.init) {
      rows.append([.init("uptime", .bold), .init(Elapsed.text(seconds: now - started))])
    }
    let health = word("health", "status")
    rows.append([.init("health", .bold), .init(health, StateStyle.health(health))])
    for check in status["health"]?["checks"]?.arrayValue ?? [] {
      let result = check["status"].map(MemberTable.word) ?? "?"
      let detail = check["detail"]?.stringValue.map { ": \($0)" } ?? ""
      rows.append([
        .init("  " + (check["name"]?.stringValue ?? "?")), .init(result + detail, StateStyle.health(result)),
      ])
    }
    rows.append([.init("instances", .bold), .init(word("instances", "total"))])
    for member in status["instances"]?["byState"]?.objectValue?.members ?? [] {
      rows.append([.init("  \(member.key)", StateStyle.instance(member.key)), .init(MemberTable.word(member.value))])
    }
    return Table(header: [], rows: rows)
  }
}
