import ArgumentParser
import SDKProtocol

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
