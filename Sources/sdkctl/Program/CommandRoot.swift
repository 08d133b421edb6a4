import ArgumentParser
import SDKProtocol

/// `sdkctl` itself: the list of its verbs.
struct CommandRoot: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sdkctl",
    abstract: "Commands a running sdkd.",
    discussion: """
      The daemon is looked for at --socket, then at SDKD_SOCKET, then the user's own if there is one, then the \
      system's. Secrets are read from standard input or a file, never from the command line.

      Exit status: 0 done; 1 failed; 2 usage; 3 no daemon; 4 not allowed; 5 not found; 6 not authenticated; \
      75 try again.
      """,
    version: "sdkctl \(SDKVersion.program)",
    subcommands: [
      StatusVerb.self, ListVerb.self, ShowVerb.self,
      CreateVerb.self, UpdateVerb.self, DeleteVerb.self,
      LoginVerb.self, LogoutVerb.self, IdentityVerb.self,
      TokenVerb.self, RefreshVerb.self, OpenVerb.self, ExecVerb.self,
      EventsVerb.self, AuditVerb.self, TopVerb.self, StorageVerb.self, PushVerb.self, CallVerb.self, LintJWTVerb.self,
      ReloadVerb.self, ConfigVerb.self, BackupVerb.self, RestoreVerb.self, KeyVerb.self, DoctorVerb.self,
      CompletionVerb.self,
    ])
}
