import ArgumentParser
import JSONRPC
import SDKProtocol

/// `sdkctl create ID --kind K`: creates an instance.
struct CreateVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "create", abstract: "Make an instance.",
    discussion: """
      Dots in the key of a setting lead into inner tables: --setting refresh.margin=30s. A token provider is what \
      follows --provider-command, to the end of the line. sdkctl explain KIND lists the settings.
      """,
    examples: [
      "sdkctl create desk --kind zendesk.messaging --settings-file desk.json",
      "sdkctl create chat --kind zendesk.chat --setting account_key=12345678",
      "sdkctl create desk --kind zendesk.messaging --settings-file desk.json --provider-command /usr/local/bin/mint --desk",
    ])

  @Argument(help: ArgumentHelp("The new instance's id.", valueName: "instance"), completion: .list([]))
  var id: InstanceID

  @Option(help: "Its kind; sdkctl status -o json lists the kinds.")
  var kind: KindName

  @OptionGroup var definition: DefinitionOptions

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let settings = try await definition.settingsObject(context.input) { await context.settingsSchema(kind.name) }
    let params = InstanceCreate.Params(
      instance: id, kind: kind, settings: settings, provider: try definition.providerObject(context.input),
      access: definition.access, labels: definition.labelTexts)
    let made = try await context.ask(InstanceCreate.self, params)
    try context.show(instance: made)
    try await context.warn(of: [made], global)
  }
}

/// `sdkctl update ID`: changes settings, provider, access or labels.
struct UpdateVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "update", abstract: "Change an instance.",
    discussion: """
      Only what is given changes; a list of rules replaces the one before. --setting KEY=null removes a setting.
      """,
    examples: [
      "sdkctl update desk --setting refresh.margin=30s --label floor=2",
      "sdkctl update desk --access-use user:kiosk",
      "sdkctl update desk --setting conversation_mode=null",
    ])

  @Argument(help: ArgumentHelp("The instance.", valueName: "instance"))
  var id: InstanceID

  @OptionGroup var definition: DefinitionOptions

  @Option(
    name: .customLong("remove-label"), help: ArgumentHelp("Remove a label.", valueName: "k"),
    completion: CompletionSource.labels)
  var removedLabels: [String] = []

  @Option(
    name: .customLong("remove-access"), help: ArgumentHelp("Remove all rules of a role.", valueName: "role"))
  var removedAccess: [RuledRole] = []

  @Flag(help: "Remove the token provider.")
  var removeProvider = false

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func validate() throws {
    for role in removedAccess where definition.rules(of: role) != nil {
      throw ValidationError("Give --access-\(role) or --remove-access \(role), not both.")
    }
    if removeProvider, definition.hasProvider {
      throw ValidationError("Give --remove-provider or a provider, not both.")
    }
  }

  func run(in context: CommandContext) async throws {
    let labels = (definition.labelTexts ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value)) }
    let patch = JSONObject(labels + removedLabels.map { ($0, JSON.null) })
    var access = try definition.access.map { try JSONValueEncoder.encode($0).objectValue ?? [:] } ?? [:]
    for role in removedAccess { access[role.rawValue] = .null }
    let provider = try definition.providerObject(context.input).map(JSON.object)
    let settings = try await definition.settingsObject(context.input) {
      let instance = try? await context.ask(InstanceGet.self, .init(instance: id))
      return await context.settingsSchema(instance?["kind"]?.stringValue ?? "")
    }
    let params = InstanceUpdate.Params(
      instance: id, settings: settings,
      provider: removeProvider ? .null : provider, access: access.isEmpty ? nil : access,
      labels: patch.isEmpty ? nil : patch)
    let changed = try await context.ask(InstanceUpdate.self, params)
    try context.show(instance: changed)
    try await context.warn(of: [changed], global)
  }
}

/// `sdkctl delete ID`: deletes an instance and all that it stores.
struct DeleteVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "delete", abstract: "Delete an instance and all that it stores.",
    discussion:
      "On a terminal it asks first, unless --yes is given. Without a terminal it deletes at once, and says so.",
    examples: [
      "sdkctl delete desk",
      "sdkctl delete desk --logout --yes",
    ])

  @Argument(help: ArgumentHelp("The instance.", valueName: "instance"))
  var id: InstanceID

  @Flag(help: "End the vendor's session first; when that fails the instance stays.")
  var logout = false

  @Flag(name: .shortAndLong, help: "Don't ask.")
  var yes = false

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    guard yes || context.input.confirms("Delete \(id) and all that it stores?") else {
      throw CommandFailure(message: "Nothing was changed.", reason: "cancelled", status: 1)
    }
    let params = InstanceDelete.Params(instance: id, logout: logout ? true : nil)
    let result = try await Progress(context.errors).during("delete \(id)") {
      try await context.ask(InstanceDelete.self, params)
    }
    guard context.presenter.isForPeople else { return try context.presenter.show(result) }
    try context.output.line("\(id) is deleted.")
  }
}

/// `sdkctl show ID`: shows all details of an instance.
struct ShowVerb: PlainVerb {
  static let configuration = CommandConfiguration(
    verb: "show", abstract: "Show an instance.",
    examples: [
      "sdkctl show desk",
      "sdkctl show desk -o yaml",
    ])

  @Argument(help: ArgumentHelp("The instance.", valueName: "instance"))
  var id: InstanceID

  @OptionGroup(title: "Global options") var global: GlobalOptions

  init() {}

  init?(plain line: inout PlainLine) {
    global = GlobalOptions(plain: &line)
    guard let id = line.argument(as: InstanceID.self) else { return nil }
    self.id = id
  }

  func run(in context: CommandContext) async throws {
    try context.show(instance: try await context.ask(InstanceGet.self, .init(instance: id)))
  }
}

extension CommandContext {
  /// Prints all details of an instance.
  fileprivate func show(instance: JSON) throws {
    try presenter.show(presenter.isForPeople ? BridgeWords.readable(instance, now: .now) : instance)
  }

  /// Returns the JSON Schema of a kind's settings; `nil` if the daemon does not return it.
  fileprivate func settingsSchema(_ kind: String) async -> JSON? {
    let kinds = (try? await ask(RPCDiscover.self, Empty()))?["x-kinds"]?.arrayValue ?? []
    return kinds.first { $0["name"]?.stringValue == kind }?["settings"]
  }
}
