import ArgumentParser
import JSONRPC
import SDKProtocol

/// `sdkctl wait ID --for STATE`: waits until an instance is in a state.
struct WaitVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "wait", abstract: "Wait until an instance is in a state.",
    discussion: """
      Returns at once when the instance is in the state already. Without --timeout it waits as long as it takes; when \
      the time is over, the exit status is 75. sdkctl explain lists the states.
      """,
    examples: [
      "sdkctl wait desk --for authenticated --timeout 30s",
      "sdkctl wait desk --for loggedOut --for noUser",
    ])

  @Argument(help: ArgumentHelp("The instance.", valueName: "instance"))
  var id: InstanceID

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("The state; authenticated unless given. One of several suffices.", valueName: "state"))
  var states: [InstanceState] = []

  @Option(
    help: ArgumentHelp("The service, for kinds that have several.", valueName: "name"),
    completion: CompletionSource.services)
  var service: String?

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let wanted = states.isEmpty ? [.authenticated] : states
    let watch = StateWatch(client: context.client, id: id, service: service, states: wanted)
    let cursor = try await context.currentCursor([id])
    let instance = try await context.ask(InstanceGet.self, .init(instance: id))
    if watch.holds(instance) { return try show(instance, watch, context) }
    let now = watch.state(of: instance)
    guard now != nil else {
      let names = instance["services"]?.objectValue?.keys ?? []
      throw CommandFailure.usage(
        "\(id) has no service \(service ?? "").",
        hints: names.isEmpty ? [] : ["its services: \(names.joined(separator: ", "))"])
    }
    let outcome = try await Progress(context.errors).during("waiting for \(id)") {
      try await watch.outcome(since: cursor, within: global.timeout?.duration)
    }
    switch outcome {
    case .reached(let instance): try show(instance, watch, context)
    case .late:
      let last = (try? await context.limited(to: .seconds(5)).ask(InstanceGet.self, .init(instance: id)))
        .flatMap(watch.state)
      throw CommandFailure(
        message: "\(id) is \(last ?? now ?? "?"), and not \(wanted.map(\.rawValue).joined(separator: " or ")) in time.",
        reason: "timeout", status: 75)
    }
  }

  private func show(_ instance: JSON, _ watch: StateWatch, _ context: CommandContext) throws {
    guard context.presenter.isForPeople else { return try context.presenter.show(instance) }
    try context.output.line("\(id) is \(watch.state(of: instance) ?? "?").")
  }
}
