import ArgumentParser
import JSONRPC
import SDKClient
import SDKProtocol

/// `sdkctl status`: shows the daemon, its health, and its instances by state.
struct StatusVerb: PlainVerb {
  static let configuration = CommandConfiguration(
    verb: "status", abstract: "Show the daemon, its health and how its instances are.",
    discussion: """
      Exit status 0 when the daemon serves calls, also when it is degraded; 1 when it is failing; 3 when no daemon \
      listens. sdkctl explain health has the words, sdkctl explain CHECK each check, and sdkctl doctor says what to do.
      """,
    examples: [
      "sdkctl status",
      "sdkctl status -o json",
      "sdkctl status --tenant acme",
    ])

  @OptionGroup(title: "Global options") var global: GlobalOptions

  init() {}

  init?(plain line: inout PlainLine) { global = GlobalOptions(plain: &line) }

  func run(in context: CommandContext) async throws {
    let info = try await context.ask(DaemonInfo.self, Empty())
    let health = try await context.ask(DaemonHealth.self, Empty())
    var status: JSONObject = ["daemon": info, "health": health]
    let isFailing = health["status"]?.stringValue == "failing"
    // Keys are about this machine.
    let place = context.remote == nil ? try DaemonPlace(global.location) : nil
    var hints: [String] = []
    do {
      status["instances"] = Self.counts(try await Self.byState(context))
    } catch SDKClientError.rpc(let error) where isFailing {
      // The health already says why a failing daemon can't list its instances.
      let failure = CommandFailure(SDKClientError.rpc(error))
      let isKey = failure.reason == Reason.keyMissing.rawValue && !failure.isAboutModes
      if isKey, let hint = place.flatMap(CommandFailure.withoutKey) { hints.append(hint) }
    }
    try context.presenter.show(.object(status)) { Self.table(.object(status), now: .now) }
    if isFailing {
      throw CommandFailure(message: "The daemon is failing.", reason: "failing", status: 1, hints: hints)
    }
  }

  /// Returns the number of instances in each state. A daemon of an older version, which can't count them, lists them.
  private static func byState(_ context: CommandContext) async throws -> JSONObject {
    do {
      let listed = try await context.ask(InstanceList.self, InstanceList.Params(counts: true))
      if let counts = listed["counts"]?.objectValue { return counts }
    } catch SDKClientError.rpc(let error) where error.reason == ProtocolReason.invalidParams.rawValue {}
    let states = try await context.instances(InstanceList.Params()).compactMap { $0["state"]?.stringValue }
    return JSONObject(Dictionary(states.map { ($0, 1) }, uniquingKeysWith: +).map { ($0.key, JSON($0.value)) })
  }

  /// Returns the number of instances, and that in each state, sorted by the state's name.
  static func counts(_ byState: JSONObject) -> JSON {
    let total = byState.members.reduce(0) { $0 + ($1.value.intValue ?? 0) }
    let sorted = byState.members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    return ["total": JSON(total), "byState": .object(JSONObject(sorted))]
  }

  /// Returns a table of the status for people.
  static func table(_ status: JSON, now: Timestamp) -> Table {
    func word(_ path: String...) -> String {
      path.reduce(status) { $0?[$1] }.map(MemberTable.word) ?? "?"
    }
    let program = "\(word("daemon", "name")) \(word("daemon", "version")), pid \(word("daemon", "pid"))"
    var rows: [[Table.Cell]] = [[.init("daemon", .bold), .init(program)]]
    if let started = status["daemon"]?["startedAt"]?.stringValue.flatMap({ Timestamp($0) }) {
      rows.append([.init("uptime", .bold), .init(Elapsed.text(seconds: now - started))])
    }
    let health = word("health", "status")
    rows.append([.init("health", .bold), .init(health, StateStyle.health(health))])
    for check in status["health"]?["checks"]?.arrayValue ?? [] {
      let result = check["status"].map(MemberTable.word) ?? "?"
      let words = [result, check["detail"]?.stringValue].compactMap(\.self)
      // A detail of a check that is ok stands alone: it can be a complaint about a user, not about the daemon.
      let isRemark = result == "ok" && words.count > 1
      let text = isRemark ? words[1] : words.joined(separator: ": ")
      rows.append([
        .init("  " + (check["name"]?.stringValue ?? "?")), .init(text, isRemark ? .plain : StateStyle.health(result)),
      ])
    }
    if status["instances"] != nil {
      rows.append([.init("instances", .bold), .init(word("instances", "total"))])
    }
    for member in status["instances"]?["byState"]?.objectValue?.members ?? [] {
      rows.append([.init("  \(member.key)", StateStyle.instance(member.key)), .init(MemberTable.word(member.value))])
    }
    return Table(header: [], rows: rows)
  }
}
