import ArgumentParser
import JSONRPC
import SDKProtocol

/// `sdkctl create ID --kind K`: creates an instance.
struct CreateVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Make an instance.",
    discussion: """
      Dots in the key of a setting lead into inner tables: --setting refresh.margin=30s. A token provider is what \
      stands behind --provider-command, to the end of the line.
      """)

  @Argument(help: "The new instance's id.", completion: .list([]))
  var id: InstanceID

  @Option(help: "Its kind; sdkctl status -o json lists the kinds.")
  var kind: KindName

  @OptionGroup var definition: DefinitionOptions

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let params = InstanceCreate.Params(
      instance: id, kind: kind, settings: try definition.settingsObject(context.input),
      provider: try definition.providerObject(context.input), access: definition.access,
      labels: definition.labelTexts)
    try context.presenter.show(try await context.ask(InstanceCreate.self, params))
  }
}

/// `sdkctl update ID`: changes settings, provider, access or labels.
struct UpdateVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "update", abstract: "Change an instance.",
    discussion: """
      Only what is given changes; a list of rules replaces the one before. --setting KEY=null removes a setting.
      """)

  @Argument(help: "The instance.")
  var id: InstanceID

  @OptionGroup var definition: DefinitionOptions

  @Option(name: .customLong("remove-label"), help: ArgumentHelp("Remove a label.", valueName: "k"))
  var removedLabels: [String] = []

  @Flag(help: "Remove the token provider.")
  var removeProvider = false

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let labels = (definition.labelTexts ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value)) }
    let patch = JSONObject(labels + removedLabels.map { ($0, JSON.null) })
    let access = try definition.access.map { try JSONValueEncoder.encode($0).objectValue ?? [:] }
    let provider = try definition.providerObject(context.input).map(JSON.object)
    let params = InstanceUpdate.Params(
      instance: id, settings: try definition.settingsObject(context.input),
      provider: removeProvider ? .null : provider, access: access, labels: patch.isEmpty ? nil : patch)
    try context.presenter.show(try await context.ask(InstanceUpdate.self, params))
  }
}

/// `sdkctl delete ID`: deletes an instance and all that it stores.
struct DeleteVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete an instance and all that it stores.")

  @Argument(help: "The instance.")
  var id: InstanceID

  @Flag(help: "End the vendor's session first; when that fails the instance stays.")
  var logout = false

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let params = InstanceDelete.Params(instance: id, logout: logout ? true : nil)
    let result = try await Progress(context.errors).during("delete \(id)") {
      try await context.ask(InstanceDelete.self, params)
    }
    try context.presenter.show(result)
  }
}

/// `sdkctl show ID`: shows all details of an instance.
struct ShowVerb: Verb {
  static let configuration = CommandConfiguration(commandName: "show", abstract: "Show an instance.")

  @Argument(help: "The instance.")
  var id: InstanceID

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let instance = try await context.ask(InstanceGet.self, .init(instance: id))
    let isForPeople = context.presenter.isForPeople
    try context.presenter.show(isForPeople ? BridgeWords.readable(instance, now: .now) : instance)
  }
}
