import ArgumentParser
import Glibc
import JSONRPC
import SDKProtocol

/// `sdkctl backup [NAME]`: makes a backup of the state.
struct BackupVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "backup", abstract: "Make a backup of the state while the daemon runs.",
    discussion: """
      The backup is in backups/ below the directory of the state. Backups without a name are removed as newer ones come \
      ([backup] keep); one with a name stays until you delete it. sdkctl backup list lists the backups; it reads the \
      directory, which takes root or the user of the daemon.
      """,
    examples: [
      "sdkctl backup",
      "sdkctl backup before-upgrade",
      "sdkctl backup list",
    ])

  @Argument(help: "The name of the backup; list lists the backups instead.")
  var name: String?

  @OptionGroup(title: "Global options") var global: GlobalOptions

  var isLocal: Bool { name == "list" }

  func run(in context: CommandContext) async throws {
    if name == "list" { return try await BackupList(context: context, global: global).show() }
    let result = try await Progress(context.errors).during("backup") {
      try await context.ask(DaemonBackup.self, DaemonBackup.Params(name: name))
    }
    try context.presenter.show(result)
  }
}

/// `sdkctl restore [BACKUP]`: replaces the state by a backup.
struct RestoreVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "restore", abstract: "Put a backup in the place of the state while the daemon is stopped.",
    discussion: """
      Takes the newest good backup in backups/ below the directory of the state, the one of a name, or a file. The backup is \
      checked first. The present state is set aside beside it, never deleted. Instances that were signed in with a token \
      that can be used once need to be signed in again. wiped and deleted name instances whose data was destroyed after the \
      backup, and is not in it any more.
      """,
    examples: [
      "sdkctl restore --system",
      "sdkctl restore --system before-upgrade",
    ])

  @Argument(help: ArgumentHelp("A backup's name, or the path of a file with a slash in it.", valueName: "backup"))
  var backup: String?

  @Flag(help: "Begin with an empty state.")
  var empty = false

  @Option(help: ArgumentHelp("The directory of the state.", valueName: "path"))
  var state: String?

  @OptionGroup(title: "Global options") var global: GlobalOptions

  var isLocal: Bool { true }

  func validate() throws {
    if empty, backup != nil { throw ValidationError("Give a backup or --empty.") }
    if global.socket != nil {
      throw ValidationError("A restore uses no socket: leave out --socket, and give --state for another state.")
    }
    if backup?.isEmpty == true { throw ValidationError("A backup has a name.") }
  }

  func run(in context: CommandContext) async throws {
    let place = try place(context)
    if state == nil, place?.mode != .user, geteuid() != 0 {
      throw CommandFailure(
        message: "The state of the system's daemon is its own; run this as root.", reason: "notPermitted", status: 4,
        hints: ["--user is for the daemon of the user"])
    }
    if backup == "list", state == nil {
      // A wrong guess would replace the state.
      throw CommandFailure.usage(
        "A restore takes the name of a backup.",
        hints: ["\(place?.command("backup list") ?? "sdkctl backup list") lists the backups"])
    }
    let words = empty ? ["--restore-nothing"] : ["--restore", backup ?? ""]
    let ended = try await Progress(context.errors).during("restore") {
      try ChildProgram(ChildProgram.daemon, words + (directory(place).map { ["--state", $0] } ?? []))
    }
    guard ended.status == 0, let result = try? JSONParser.parse(ended.output) else { throw failure(ended, place) }
    try context.presenter.show(result)
    guard context.presenter.isForPeople else { return }
    try context.errors.wrapped(line: "Next: \(Self.next(place))")
  }

  /// Returns the commands that start the restored daemon and show how it is.
  static func next(_ place: DaemonPlace?) -> String {
    "\(units("start", place)), then \(place?.command("status") ?? "sdkctl status")"
  }

  /// Returns the daemon to restore; `nil` when only the directory of its state is known.
  private func place(_ context: CommandContext) throws -> DaemonPlace? {
    if state == nil { return try global.daemonOfFiles(context, hint: "give --state, --system or --tenant NAME") }
    return global.isNamed ? try DaemonPlace(global.location) : nil
  }

  /// Returns the directory to restore into; `nil` for the default of the user's daemon.
  private func directory(_ place: DaemonPlace?) -> String? { state ?? (place?.mode == .user ? nil : place?.state) }

  private static func units(_ verb: String, _ place: DaemonPlace?) -> String {
    guard let place, let unit = place.unit else { return "\(verb) the daemon" }
    return place.systemctl(verb, "socket", byHand: "") + " \(unit).service"
  }

  private func failure(_ ended: ChildProgram, _ place: DaemonPlace?) -> CommandFailure {
    let text = ended.complaint.hasPrefix("sdkd: ") ? String(ended.complaint.dropFirst(6)) : ended.complaint
    let isInUse = ended.status == 75
    return CommandFailure(
      message: text.isEmpty ? "sdkd ended with \(ended.status)." : text, reason: isInUse ? "stateInUse" : "restore",
      status: isInUse ? 75 : 1,
      hints: isInUse ? [Self.units("stop", place)] : [])
  }
}
