import ArgumentParser
import JSONRPC
import SDKClient
import SDKProtocol

/// `sdkctl wait [ID --for STATE]`: waits until the daemon answers, and then until an instance is in a state.
struct WaitVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "wait", abstract: "Wait for the daemon, or until an instance is in a state.",
    discussion: """
      First it waits until the daemon answers, which it may not yet do at boot. Without an instance that is all. With one it returns at once when the instance is in the state already. Without --timeout it waits as long as it takes; when \
      the time is over, the exit status is 75. sdkctl explain lists the states.
      """,
    examples: [
      "sdkctl wait --timeout 1m",
      "sdkctl wait desk --for authenticated --timeout 30s",
      "sdkctl wait desk --for loggedOut --for noUser",
    ])

  @Argument(help: ArgumentHelp("The instance.", valueName: "instance"))
  var id: InstanceID?

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("The state; authenticated unless given. One of several suffices.", valueName: "state"))
  var states: [InstanceState] = []

  @OptionGroup var choice: ServiceOption

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func validate() throws {
    if id == nil, !states.isEmpty || choice.service != nil {
      throw ValidationError("--for and --service go with an instance.")
    }
  }

  func run(in context: CommandContext) async throws {
    let deadline = (global.timeout?.duration).map { ContinuousClock.now + $0 }
    try await reachDaemon(context, until: deadline)
    guard let id else { return }
    let context = context.limited(to: CallBudget.standard)
    let wanted = states.isEmpty ? [.authenticated] : states
    let watch = StateWatch(client: context.client, id: id, service: choice.service, states: wanted)
    let cursor = try await context.currentCursor([id])
    let instance = try await context.ask(InstanceGet.self, .init(instance: id))
    if watch.holds(instance) { return try show(instance, watch, context) }
    let now = watch.state(of: instance)
    guard now != nil else {
      let names = instance["services"]?.objectValue?.keys ?? []
      throw CommandFailure.usage(
        "\(id) has no service \(choice.service ?? "").",
        hints: names.isEmpty ? [] : ["its services: \(names.joined(separator: ", "))"])
    }
    let outcome = try await Progress(context.errors).during("waiting for \(id)") {
      try await watch.outcome(since: cursor, within: deadline.map { max(.zero, ContinuousClock.now.duration(to: $0)) })
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

  /// Waits until the daemon answers.
  ///
  /// - Throws: also the error of a daemon that may not be called, or that is not the one meant.
  private func reachDaemon(_ context: CommandContext, until deadline: ContinuousClock.Instant?) async throws {
    var pauses = RetrySchedule(first: .milliseconds(20), longest: .seconds(1), limit: nil)
    try await Progress(context.errors).during("waiting for the daemon") {
      while true {
        do {
          _ = try await context.call(DaemonInfo.name, [:], ordering: DaemonInfo.ordering, isWaiting: true)
          return
        } catch let error as SDKClientError where error.isOfAbsence && context.remote == nil {
          let pause = pauses.next() ?? .zero
          guard deadline.map({ ContinuousClock.now + pause < $0 }) ?? true else {
            throw CommandFailure(
              message: "The daemon has not answered in time.", reason: "timeout", status: 75,
              hints: ["sdkctl doctor finds out why"])
          }
          try await Task.sleep(for: pause)
        }
      }
    }
  }

  private func show(_ instance: JSON, _ watch: StateWatch, _ context: CommandContext) throws {
    guard context.presenter.isForPeople else { return try context.presenter.show(instance) }
    try context.output.line("\(watch.id) is \(watch.state(of: instance) ?? "?").")
  }
}

extension SDKClientError {
  /// Whether nothing answers yet, as while the machine starts.
  fileprivate var isOfAbsence: Bool {
    switch self {
    case .noDaemon, .closed: true
    case .rpc(let error): error.reason == Reason.shuttingDown.rawValue
    default: false
    }
  }
}
