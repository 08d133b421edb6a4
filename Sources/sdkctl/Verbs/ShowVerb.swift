import ArgumentParser
import SDKProtocol

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
