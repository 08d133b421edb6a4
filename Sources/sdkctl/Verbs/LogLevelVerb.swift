import ArgumentParser
import JSONRPC
import SDKProtocol

/// `sdkctl log-level [LEVEL]`: shows the level of the daemon's journal, or changes it for a while.
struct LogLevelVerb: Verb {
  /// A level, or the word that restores the configured one.
  enum Choice: String, ExpressibleByArgument, CaseIterable {
    case trace, debug, info, notice, warning, error, critical, reset
  }

  static let configuration = CommandConfiguration(
    verb: "log-level", abstract: "Show what goes to the journal, or change it for a while.",
    discussion: """
      With LEVEL the daemon writes messages of this level and above to the journal, and returns by itself to the level \
      in its configuration. With reset it does so at once. A restart, and a reload that changes the configured level, do \
      so too. Messages contain no secrets at any level. Takes an admin.
      """,
    examples: [
      "sdkctl log-level",
      "sdkctl log-level debug --for 30m",
      "sdkctl log-level reset",
    ])

  @Argument(help: "The level: trace, debug, info, notice, warning, error or critical; or reset.")
  var level: Choice?

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("After what time the configured level is restored, from 1s to 1d; 10m.", valueName: "duration"))
  var time: Seconds?

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func validate() throws {
    guard let time else { return }
    guard let level, level != .reset else { throw ValidationError("--for goes with a level.") }
    guard time.value >= 1, time.value <= Double(DaemonSetLogLevel.maximumSeconds) else {
      throw ValidationError("--for must be from 1s to 1d.")
    }
  }

  func run(in context: CommandContext) async throws {
    let journal: JSON?
    if let level {
      let seconds = time.map { Int($0.value.rounded(.up)) }
      journal = try await context.ask(
        DaemonSetLogLevel.self, .init(level: LogLevel(rawValue: level.rawValue), seconds: seconds))
    } else {
      journal = try await context.ask(DaemonInfo.self, Empty())["journal"]
    }
    guard let journal else {
      throw CommandFailure(message: "Only an admin is told the level.", reason: "notPermitted", status: 4)
    }
    guard context.presenter.isForPeople else { return try context.presenter.show(journal) }
    func text(_ member: String) -> String { journal[member]?.stringValue ?? "" }
    let until = journal["until"] == nil ? "" : " until \(text("until")), then \(text("configured"))"
    try context.output.line(text("level") + until)
  }
}
