import ArgumentParser
import SDKProtocol

/// `sdkctl backup [NAME]`: makes a backup of the state.
struct BackupVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Make a copy of the state while the daemon runs.",
    discussion: """
      The copy lies in backups/ below the directory of the state. One without a name makes room for newer ones by itself \
      ([backup] keep); one with a name stays until somebody deletes it.
      """)

  @Argument(help: "What the copy is to be called.")
  var name: String?

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let result = try await Progress(context.errors).during("backup") {
      try await context.ask(DaemonBackup.self, DaemonBackup.Params(name: name))
    }
    try context.presenter.show(result)
  }
}
