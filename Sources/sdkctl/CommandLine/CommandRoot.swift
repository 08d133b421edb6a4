import ArgumentParser
import SDKProtocol

/// `sdkctl` itself: the list of its verbs.
struct CommandRoot: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sdkctl",
    abstract: "Controls a running sdkd.",
    discussion: """
      sdkctl looks for the daemon at --socket, then at SDKD_SOCKET, then the user's own if there is one, then the \
      system's. Secrets are read from standard input or a file, never from the command line.

      Exit status: 0 done; 1 failed; 2 usage; 3 no daemon; 4 not allowed; 5 not found; 6 not authenticated; \
      75 try again.

      \(VerbSynonym.sentence)
      """,
    version: "sdkctl \(SDKVersion.program)",
    subcommands: [StdioBridgeVerb.self],
    groupedSubcommands: [
      CommandGroup(
        name: "Instances",
        subcommands: [ListVerb.self, ShowVerb.self, CreateVerb.self, UpdateVerb.self, DeleteVerb.self]),
      CommandGroup(
        name: "Users and tokens",
        subcommands: [
          LoginVerb.self, LogoutVerb.self, IdentityVerb.self, TokenVerb.self, RefreshVerb.self, OpenVerb.self,
          ExecVerb.self, LintJWTVerb.self,
        ]),
      CommandGroup(name: "What apps keep", subcommands: [StorageVerb.self, PushVerb.self]),
      CommandGroup(
        name: "Watch",
        subcommands: [
          StatusVerb.self, WaitVerb.self, EventsVerb.self, TopVerb.self, LogsVerb.self, AuditVerb.self,
        ]),
      CommandGroup(
        name: "Operate",
        subcommands: [
          DoctorVerb.self, ReloadVerb.self, ConfigVerb.self, LogLevelVerb.self, BackupVerb.self,
          RestoreVerb.self, KeyVerb.self, BrowserVerb.self,
        ]),
      CommandGroup(
        name: "More",
        subcommands: [ExplainVerb.self, WhoamiVerb.self, CallVerb.self, CompletionVerb.self]),
    ])
}

extension CommandRoot {
  /// Returns the verb of this name if scripts run it most.
  static func plainVerb(_ name: String) -> (any PlainVerb.Type)? {
    switch name {
    case "token": TokenVerb.self
    case "list": ListVerb.self
    case "show": ShowVerb.self
    case "status": StatusVerb.self
    case "events": EventsVerb.self
    default: nil
    }
  }

  /// Returns the verb of this name if scripts run it often.
  static func frequentVerb(_ name: String) -> (any Verb.Type)? {
    switch name {
    case "token": TokenVerb.self
    case "exec": ExecVerb.self
    case "open": OpenVerb.self
    case "list": ListVerb.self
    case "show": ShowVerb.self
    case "storage": StorageVerb.self
    default: nil
    }
  }
}
