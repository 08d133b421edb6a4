import ArgumentParser
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
