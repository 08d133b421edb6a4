import ArgumentParser
import Glibc
import JSONRPC

/// `sdkctl restore [COPY]`: puts a copy in the place of the state.
struct RestoreVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Put a copy in the place of the state while the daemon is stopped.",
    discussion: """
      Takes the newest good copy in backups/ below the directory of the state, the one of a name, or a file. The copy is \
      checked first. The present state is set aside beside it, never deleted. Instances that were signed in with a token \
      that can be used once need to be signed in again.
      """)

  @Argument(help: ArgumentHelp("A copy's name, or the path of a file with a slash in it.", valueName: "copy"))
  var copy: String?

  @Flag(help: "Begin with an empty state.")
  var empty = false

  @Option(help: ArgumentHelp("The directory of the state.", valueName: "path"))
  var state: String?

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func validate() throws {
    if empty, copy != nil { throw ValidationError("Give a copy or --empty.") }
    if global.socket != nil { throw ValidationError("A restore knows no socket: give --state.") }
    if copy?.isEmpty == true { throw ValidationError("A copy has a name.") }
  }

  func run(in context: CommandContext) async throws {
    if !global.user, state == nil, geteuid() != 0 {
      throw CommandFailure(
        message: "The state of the system's daemon is its own; run this as root.", reason: "notPermitted", status: 4,
        hints: ["--user is for the daemon of the user"])
    }
    let words = empty ? ["--restore-nothing"] : ["--restore", copy ?? ""]
    let ended = try await Progress(context.errors).during("restore") {
      try ChildProgram(ChildProgram.daemon, words + (directory.map { ["--state", $0] } ?? []))
    }
    guard ended.status == 0, let result = try? JSONParser.parse(ended.output) else { throw failure(ended) }
    try context.presenter.show(result)
    guard context.presenter.isForPeople else { return }
    let name = global.tenant.map { "sdkd@\($0)" } ?? "sdkd"
    try context.errors.line(
      "Next: systemctl \(global.user ? "--user " : "")start \(name).socket \(name).service, then sdkctl status")
  }

  private var directory: String? {
    state ?? global.tenant.map { "/var/lib/sdkd-tenants/\($0)" } ?? (global.user ? nil : "/var/lib/sdkd")
  }

  private func failure(_ ended: ChildProgram) -> CommandFailure {
    let text = ended.complaint.hasPrefix("sdkd: ") ? String(ended.complaint.dropFirst(6)) : ended.complaint
    let name = global.tenant.map { "sdkd@\($0)" } ?? "sdkd"
    let isInUse = ended.status == 75
    return CommandFailure(
      message: text.isEmpty ? "sdkd ended with \(ended.status)." : text, reason: isInUse ? "stateInUse" : "restore",
      status: isInUse ? 75 : 1,
      hints: isInUse ? ["systemctl \(global.user ? "--user " : "")stop \(name).socket \(name).service"] : [])
  }
}
