import ArgumentParser
import JSONRPC
import SDKProtocol

/// `sdkctl explain TOPIC`: explains a reason, a method, a shape, a state, a check, an event, a kind, a setting or an exit
/// status.
struct ExplainVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "explain", abstract: "Explain a reason, a method, a state, an event, a kind or a setting.",
    discussion: """
      A reason is the word in parentheses behind an error. Methods, kinds and settings are those of the daemon; without \
      one, those of the installed sdkd. A method comes with its example, a kind with what login reads, a shape such as \
      ChatUser with its members and an example, an exit status with its reasons. \
      The checks of sdkctl status, such as setAside, and its word degraded come with what to do. A name from the API of a phone SDK, \
      such as loginUser or onInvalidAuth, leads to what takes its place. Without a topic all are listed. sdkd.toml(5) has the settings of the daemon.
      """,
    examples: [
      "sdkctl explain providerBackoff", "sdkctl explain token.get", "sdkctl explain reauthNeeded",
      "sdkctl explain tokenRefreshed", "sdkctl explain zendesk.chat", "sdkctl explain ChatUser", "sdkctl explain 75",
      "sdkctl explain refresh.margin", "sdkctl explain degraded", "sdkctl explain setAside",
      "sdkctl explain onInvalidAuth", "sdkctl explain reauthNeeded --language de",
    ])

  @Argument(help: "The topic.", completion: CompletionSource.topics)
  var topic: String?

  @Option(help: "The language of the sentence that an app shows to people.")
  var language = Language.en

  @Flag(help: ArgumentHelp("Print the tables of errors.md.", visibility: .hidden))
  var reference = false

  @Flag(help: ArgumentHelp("Print the table of checks in states.md.", visibility: .hidden))
  var checks = false

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let document = await Self.document(context)
    if reference { return try context.output.text(ErrorReference(document: document).markdown) }
    if checks { return try context.output.text(CheckEntry.markdown) }
    let topics = Topics(document: document, language: language)
    guard let topic else { return try list(topics, context) }
    let found = topics.named(topic)
    guard !found.isEmpty else {
      throw CommandFailure.usage(
        "\(topic) is not a reason, method, shape, state, check, event, kind, setting, exit status or call of an SDK.",
        hints: (topics.nearest(to: topic).map { ["did you mean \($0)?"] } ?? []) + ["sdkctl explain lists the topics"])
    }
    guard context.presenter.isForPeople else {
      return try context.presenter.list(found.map(\.json)) { Table(header: [], rows: []) }
    }
    for (index, one) in found.enumerated() {
      if index > 0 { try context.output.text("\n") }
      try context.presenter.show(one.json) { one.table }
    }
  }

  private func list(_ topics: Topics, _ context: CommandContext) throws {
    let names = topics.names.filter { !$0.names.isEmpty }
    let json = JSONObject(names.map { ($0.type, .array($0.names.map(JSON.string))) })
    try context.presenter.show(.object(json)) {
      Table(header: [], rows: names.map { [.init($0.type, .bold), .init($0.names.joined(separator: " "))] })
    }
  }

  /// Returns the OpenRPC document of the daemon, else that of the installed program; empty without both.
  private static func document(_ context: CommandContext) async -> JSON {
    var quick = context
    quick.budget = CallBudget(.seconds(3))
    if let document = try? await quick.ask(RPCDiscover.self, Empty()) { return document }
    let run = try? ChildProgram(ChildProgram.daemon, ["--openrpc"], until: .now + .seconds(10))
    return run.flatMap { $0.status == 0 ? try? JSONParser.parse($0.output) : nil } ?? [:]
  }
}
