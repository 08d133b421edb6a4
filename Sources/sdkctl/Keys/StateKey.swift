import JSONRPC

/// The result of `sdkd --inspect-key`: which keys open the state of a daemon.
struct StateKey {
  /// Whether there is a state, or a backup of one, that is sealed under a key.
  let isSealed: Bool
  /// Whether the file `root.key` in the state directory opens the state.
  let fileOpens: Bool
  /// Whether the key that was tried besides `root.key` opens the state.
  let keyOpens: Bool
}

extension StateKey {
  /// Runs `sdkd --inspect-key`, which tries `root.key` and `key` on the state in a directory.
  ///
  /// - Throws: `CommandFailure` when the program fails or does not end by `deadline`.
  init(of directory: String, _ key: RecoveryKey?, until deadline: ContinuousClock.Instant? = nil) throws {
    let ended = try ChildProgram(
      ChildProgram.daemon, ["--inspect-key", "--state", directory], input: key?.bytes ?? [], until: deadline)
    guard ended.status == 0, let answer = try? JSONParser.parse(ended.output) else {
      throw CommandFailure(
        message: ended.complaint.isEmpty ? "sdkd ended with \(ended.status)." : ended.complaint, reason: "state",
        status: 1)
    }
    isSealed = answer["sealed"] == true
    fileOpens = answer["file"] == true
    keyOpens = answer["key"] == true
  }

  /// Whether the key that was tried can be used: it opens the state, or there is no sealed state yet.
  var isOpen: Bool { keyOpens || !isSealed }

  /// Returns why a credential must not be made of a new key, or of a recovery key; `nil` when it may be.
  func refusal(isRecovery: Bool, directory: String, _ place: DaemonPlace) -> CommandFailure? {
    if !isSealed || fileOpens || keyOpens { return nil }
    if isRecovery {
      return CommandFailure(
        message: "This recovery key does not open the state in \(directory); nothing was changed.",
        reason: "keyMissing", status: 1, hints: ["look for the recovery key that was printed last for this state"])
    }
    return CommandFailure(
      message: "A new key would not open the state in \(directory), whose own key is not there; nothing was changed.",
      reason: "keyMissing", status: 1,
      hints: [
        "\(place.command("key init --recovery")) makes the credential from the recovery key",
        "put root.key or the credential back",
      ])
  }
}
