import ArgumentParser
import Glibc
import JSONRPC
import SDKClient
import SDKProtocol

/// `sdkctl list`: lists the instances that the caller can see.
struct ListVerb: PlainVerb {
  static let configuration = CommandConfiguration(
    verb: "list", abstract: "List the instances that you can see.",
    discussion: """
      LAST ERROR shows a failure while it matters: one that no later success has overtaken. sdkctl events has the \
      earlier ones. STATE is "signs in on use" after a login that asks the vendor only when a session opens or a token \
      is needed. \
      With --watch each change adds a line, until Ctrl-C or --timeout.
      """,
    examples: [
      "sdkctl list",
      "sdkctl list --state reauthNeeded",
      "sdkctl list --watch",
      "sdkctl list --template '{instance} {user.externalId}'",
    ])

  @Option(help: "Only this kind.")
  var kind: KindName?

  @Option(help: "Only those in this state.")
  var state: InstanceState?

  @Option(name: .customLong("label"), help: ArgumentHelp("Only those with this label.", valueName: "k=v"))
  var labels: [Assignment] = []

  @Flag(name: .shortAndLong, help: "Go on with each instance that changes.")
  var watch = false

  @OptionGroup(title: "Global options") var global: GlobalOptions

  init() {}

  init?(plain line: inout PlainLine) {
    kind = line.value("--kind")
    state = line.value("--state")
    labels = line.values("--label")
    watch = line.flag("--watch") || line.flag("-w")
    global = GlobalOptions(plain: &line)
  }

  private var params: InstanceList.Params {
    let wanted = labels.isEmpty ? nil : Dictionary(labels.map { ($0.key, $0.text) }, uniquingKeysWith: { $1 })
    return InstanceList.Params(labels: wanted, kind: kind, state: state)
  }

  func run(in context: CommandContext) async throws {
    if watch { return try await follow(context) }
    let instances = try await context.instances(params)
    let none = instances.isEmpty ? await emptiness(context) : ""
    try context.presenter.list(instances, none: none, context.errors) { Self.table(instances, now: .now) }
  }

  /// Returns why the list is empty: a kind that the daemon does not have, the filters, or the caller's rights.
  private func emptiness(_ context: CommandContext) async -> String {
    guard context.presenter.isForPeople else { return "" }
    if let kind, let info = try? await context.ask(DaemonInfo.self, Empty()) {
      let kinds = (info["kinds"]?.arrayValue ?? []).compactMap(\.stringValue)
      if !kinds.contains(kind.name) {
        return "The daemon has no kind \(kind.name)"
          + (kind.name.nearest(in: kinds).map { "; did you mean \($0)?" }
            ?? ": it has \(kinds.joined(separator: ", ")).")
      }
    }
    guard kind == nil, state == nil, labels.isEmpty else { return "No instances that you can see match." }
    let none = "No instances that you can see. sdkctl whoami shows your rights"
    // Other callers are not told whether a rule lets them create instances.
    let info = try? await context.ask(DaemonInfo.self, Empty())
    return info.map(RightsCheck.isAdmin) == true ? "\(none), sdkctl create makes one." : "\(none)."
  }

  // MARK: Watching

  private func follow(_ context: CommandContext) async throws {
    // Every line is written at once, so no cleanup is needed.
    signal(SIGINT) { _ in _exit(0) }
    TimeLimit.arm(context)
    let cursor = try await context.currentCursor()
    let instances = try await context.instances(params)
    var widths: [Int] = []
    var hasHeader = true
    var shown = ShownInstances()
    func show(_ instances: [JSON]) throws {
      let (now, isRow) = (Timestamp.now, context.presenter.isForPeople)
      let instances = instances.filter { shown.takes($0, isRow: isRow, now: now) }
      if instances.isEmpty, !widths.isEmpty { return }
      guard context.presenter.isForPeople else {
        for instance in instances { try context.presenter.line(instance) }
        return
      }
      let table = Self.table(instances, now: now)
      widths = table.widths(atLeast: widths)
      try context.output.text(
        table.text(
          hasColour: context.output.hasColour, atLeast: widths, hasHeader: hasHeader && context.presenter.hasHeaders))
      hasHeader = false
    }
    try show(instances)
    for try await item in context.client.events(since: cursor) {
      guard let id = Self.instance(of: item) else {
        // Events were missed, so any instance may have changed.
        try show(try await context.limited(to: .seconds(60)).instances(params))
        continue
      }
      do {
        let instance = try await context.limited(to: .seconds(60)).ask(InstanceGet.self, .init(instance: id))
        if matches(instance) { try show([instance]) } else { shown.forget(id) }
      } catch let SDKClientError.rpc(error) where error.reason == Reason.instanceNotFound.rawValue {
        try show([["instance": .string(id.name), "state": "deleted"]])
      }
    }
  }

  private static func instance(of item: SubscriptionItem) -> InstanceID? {
    switch item {
    case .event(let event): event.instance
    case .unknown(let event): event["instance"]?.stringValue.flatMap { InstanceID($0) }
    case .gap: nil
    }
  }

  private func matches(_ instance: JSON) -> Bool {
    (kind == nil || instance["kind"]?.stringValue == kind?.name)
      && (state == nil || instance["state"]?.stringValue == state?.rawValue)
      && labels.allSatisfy { instance["labels"]?[$0.key]?.stringValue == $0.text }
  }

  // MARK: Table

  /// Returns whether an instance in this state gives out its token.
  private static func isServed(_ state: String) -> Bool {
    state != InstanceState.reauthNeeded.rawValue && state != InstanceState.locked.rawValue
  }

  /// The words for a user who was set and whom the vendor has not been asked about, in place of the state.
  private static let onUse = "signs in on use"

  /// Returns a table of the instances for people.
  static func table(_ instances: [JSON], now: Timestamp) -> Table {
    let rows = instances.map { instance -> [Table.Cell] in
      let state = instance["state"]?.stringValue ?? "?"
      let user = instance["user"]
      let name = ["externalId", "email", "name", "id"].lazy.compactMap { user?[$0]?.stringValue }.first
      // Callers get no token in these states, so its end means nothing.
      let end = isServed(state) ? instance["expiresAt"]?.stringValue.flatMap({ Timestamp($0) }) : nil
      return [
        .init(instance["instance"]?.stringValue ?? "?"), .init(instance["kind"]?.stringValue ?? "-"),
        .init(instance["signIn"] == "onUse" ? onUse : state, StateStyle.instance(state)), .init(name ?? "-"),
        .init(end.map { $0 > now ? Elapsed.text(seconds: $0 - now) : "expired" } ?? "-"),
        .init(LastError(of: instance)?.text(at: now) ?? "-"),
      ]
    }
    return Table(header: ["INSTANCE", "KIND", "STATE", "USER", "EXPIRES IN", "LAST ERROR"], rows: rows)
  }
}
