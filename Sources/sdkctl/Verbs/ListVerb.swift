import ArgumentParser
import JSONRPC
import SDKProtocol

/// `sdkctl list`: lists the instances that the caller can see.
struct ListVerb: Verb {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "List the instances that you can see.")

  @Option(help: "Only this kind.")
  var kind: KindName?

  @Option(help: "Only those in this state.")
  var state: InstanceState?

  @Option(name: .customLong("label"), help: ArgumentHelp("Only those with this label.", valueName: "k=v"))
  var labels: [Assignment] = []

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let wanted = labels.isEmpty ? nil : Dictionary(labels.map { ($0.key, $0.text) }, uniquingKeysWith: { $1 })
    let instances = try await context.instances(InstanceList.Params(labels: wanted, kind: kind, state: state))
    try context.presenter.list(instances) { Self.table(instances, now: .now) }
  }

  /// Returns a table of the instances for people.
  static func table(_ instances: [JSON], now: Timestamp) -> Table {
    let rows = instances.map { instance -> [Table.Cell] in
      let state = instance["state"]?.stringValue ?? "?"
      let user = instance["user"]
      let name = ["externalId", "email", "name", "id"].lazy.compactMap { user?[$0]?.stringValue }.first
      let end = instance["expiresAt"]?.stringValue.flatMap({ Timestamp($0) })
      return [
        .init(instance["instance"]?.stringValue ?? "?"), .init(instance["kind"]?.stringValue ?? "?"),
        .init(state, StateStyle.instance(state)), .init(name ?? "-"),
        .init(end.map { $0 > now ? Elapsed.text(seconds: $0 - now) : "expired" } ?? "-"),
        .init(instance["lastError"]?["reason"]?.stringValue ?? "-"),
      ]
    }
    return Table(header: ["INSTANCE", "KIND", "STATE", "USER", "EXPIRES IN", "LAST ERROR"], rows: rows)
  }
}

extension CommandContext {
  /// Returns all instances that match, fetched page by page.
  func instances(_ params: InstanceList.Params) async throws -> [JSON] {
    var params = params
    var all: [JSON] = []
    while true {
      let page = try await ask(InstanceList.self, params)
      all += page["instances"]?.arrayValue ?? []
      guard let next = page["next"]?.stringValue.flatMap({ InstanceID($0) }), next != params.after else { return all }
      params.after = next
    }
  }
}
