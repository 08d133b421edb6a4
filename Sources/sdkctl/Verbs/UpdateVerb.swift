import ArgumentParser
import JSONRPC
import SDKProtocol

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
