import SDKProtocol

/// A reason of an error, as the reference and `sdkctl explain` show it.
struct ReasonEntry: Hashable {
  /// The author of the error.
  enum Source: String, CaseIterable {
    case protocolErrors = "Errors of the protocol"
    case daemon = "Errors of the daemon"
    case client = "Errors of sdkctl and SDKClient"
  }

  /// Whether the same call may succeed later.
  enum Retry: String {
    case yes, no, sometimes
  }

  let name: String
  let source: Source
  /// The codes of errors with this reason; none for those of the client.
  var codes: [Int] = []
  /// The exit statuses of `sdkctl`.
  let statuses: [Int32]
  let retry: Retry
  let cause: String
  /// A sentence for the user of an app; empty for errors that only developers and operators should see.
  var toShow = ""
  let remedy: String

  /// All reasons, by their source and in the order of the protocol.
  static let all = ofProtocol + Reason.allCases.map { ReasonEntry($0) } + ofClient

  private init(_ reason: Reason) {
    let guide = reason.guide
    // The state heals by itself only after some failures.
    let isSometimes = reason == .storeUnavailable
    name = reason.rawValue
    source = .daemon
    codes = guide.origins.map(\.rawValue)
    retry = isSometimes ? .sometimes : reason.isRetryable ? .yes : .no
    let statuses = (isSometimes ? [true, false] : [reason.isRetryable]).flatMap { isRetryable in
      exitStatuses(of: guide.origins, reason, isRetryable)
    }
    self.statuses = statuses.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    cause = guide.cause
    toShow = guide.toShow
    remedy = guide.remedy
  }

  private init(
    _ name: String, _ source: Source, codes: [Int] = [], _ statuses: [Int32], retry: Retry = .no, _ cause: String,
    show toShow: String = "", _ remedy: String
  ) {
    self.name = name
    self.source = source
    self.codes = codes
    self.statuses = statuses
    self.retry = retry
    self.cause = cause
    self.toShow = toShow
    self.remedy = remedy
  }

  private init(_ reason: ProtocolReason, _ code: Int, _ status: Int32, _ remedy: String) {
    self.init(reason.rawValue, .protocolErrors, codes: [code], [status], reason.meaning, remedy)
  }

  private static let ofProtocol = [
    ReasonEntry(.parseError, -32700, 2, "Send one JSON text for each message, in UTF-8."),
    ReasonEntry(.invalidRequest, -32600, 2, "Compare it with sdkd-protocol(7); the message names the rule."),
    ReasonEntry(.frameTooLarge, -32600, 2, "Send smaller messages."),
    ReasonEntry(
      .methodNotFound, -32601, 2, "`hints` has the nearest name; `sdkctl call rpc.discover` lists all."),
    ReasonEntry(.invalidParams, -32602, 2, "`sdkctl explain METHOD` lists the params."),
    ReasonEntry(.internalError, -32603, 1, "Find the `reference` in the log, `sdkctl logs`, and report it."),
    ReasonEntry(.cancelled, -32800, 1, "Nothing."),
  ]

  private static let ofClient = [
    ReasonEntry(
      "usage", .client, [2], "The command line has a mistake.", "The hints name the nearest word and the help."),
    ReasonEntry("input", .client, [1], "Standard input or a file can't be read or used.", "Correct the input."),
    ReasonEntry(
      "noDaemon", .client, [3], retry: .yes, "No daemon listens on the socket. Nothing was sent.",
      show: "The service has a problem.",
      "Start it; the hint names the unit or the socket that is meant."),
    ReasonEntry(
      "notPermitted", .client, [4], "The caller may not use the socket, a file or the journal.",
      "Run it as root, or have the operator allow it."),
    ReasonEntry(
      "untrustedServer", .client, [4], "The listener is neither root, `sdkd` nor the caller. Nothing was sent.",
      "Check who listens on the socket: `ls -l`, `ss -xlp`."),
    ReasonEntry(
      "connectionClosed", .client, [75], retry: .yes, "The connection was lost, and nothing was changed.",
      show: "The service has a problem. Trying again.", "Call again."),
    ReasonEntry(
      "outcomeUnknown", .client, [1, 75],
      "A write was sent and got no answer. Whether it was run is unknown. The status is 75 after a time-out.",
      show: "The service has a problem. Please check whether it worked.",
      "Read the state, then decide."),
    ReasonEntry("tooManyCalls", .client, [75], retry: .yes, "The client has too many calls in progress.", "Wait."),
    ReasonEntry(
      "badAnswer", .client, [1], "The daemon's answer can't be read; its version may be another.",
      "Compare the versions: `sdkctl status`, `sdkctl --version`."),
    ReasonEntry("badLocation", .client, [2], "What names the daemon is not a socket or tenant.", "Correct it."),
    ReasonEntry(
      "shortLived", .client, [75], retry: .sometimes, "`sdkctl token --strict` got a token shorter than `--min-ttl`.",
      "Ask for less, or have your backend issue tokens that live longer."),
    ReasonEntry(
      "configuration", .client, [78], "`sdkctl config` found mistakes, or the file does not exist.",
      "Correct the mistakes; each is listed with its file and line."),
    ReasonEntry(
      "problems", .client, [1], "`sdkctl reload` could not put all of the configuration in force.",
      "The lines above name what is missing and why."),
    ReasonEntry(
      "failing", .client, [1], "`sdkctl status` or `sdkctl doctor` found something that does not work.",
      "Follow the advice of `sdkctl doctor`."),
    ReasonEntry(
      "journal", .client, [1], "The journal can't be read here.", "Read the daemon's log with `--file`."),
    ReasonEntry(
      "output", .client, [1], "Standard output or a file can't be written.",
      "Correct the cause that the message names, such as a full disk."),
    ReasonEntry(
      "exec", .client, [126, 127], "`sdkctl exec` can't run the program. The status is 127 if there is none.",
      "Correct its name or its permissions."),
    ReasonEntry(
      "program", .client, [1], "A program that `sdkctl` needs can't be run, or did not end in time.",
      "Install the program that the message names, or find out why it hangs."),
    ReasonEntry(
      "noProgram", .client, [1], "`sdkctl config` can't run `sdkd`.",
      "Install `sdkd`, or put its folder into `PATH`."),
    ReasonEntry(
      "failed", .client, [1], "`sdkd --check` failed before it had checked the configuration.",
      "Run `sdkd --check` by hand, which prints the cause."),
    ReasonEntry(
      "restore", .client, [1], "`sdkctl restore` could not restore the backup.",
      "Correct the cause that the message names; `sdkctl backup list` lists the backups."),
    ReasonEntry(
      "stateInUse", .client, [75], retry: .yes, "A daemon runs on the state that `sdkctl restore` replaces.",
      "Stop the daemon; the hint has the command."),
    ReasonEntry(
      "state", .client, [1], "`sdkd` can't find out which key opens the state.",
      "Correct the cause that the message names."),
    ReasonEntry(
      "credential", .client, [1], "`systemd-creds` can't encrypt or decrypt the root key.",
      "The message has its error. A lost credential is made again by `sdkctl key init --recovery`."),
    ReasonEntry("exists", .client, [1], "There is a root key already.", "The hint has the command for this case."),
    ReasonEntry(
      "notTaken", .client, [1], "The daemon does not use the new root key yet, so the present one stays.",
      "Restart the daemon, then run `sdkctl key rotate --finish` again."),
    ReasonEntry("systemError", .client, [1], "A system call failed.", "The message has the cause."),
  ]
}

private func exitStatuses(of origins: [SDKError.Origin], _ reason: Reason, _ isRetryable: Bool) -> [Int32] {
  origins.map { ExitStatus.status(code: $0.rawValue, reason: reason.rawValue, isRetryable: isRetryable) }
}
