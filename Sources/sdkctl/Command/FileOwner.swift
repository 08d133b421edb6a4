import ArgumentParser
import SDKClient

extension GlobalOptions {
  /// Whether `--user`, `--system` or `--tenant` names the daemon.
  var isNamed: Bool { user || system || tenant != nil }

  /// Returns the daemon whose files a command changes without a call to it, such as its keys.
  ///
  /// When no option names it, its name is printed on standard error, and on a terminal the user must confirm.
  ///
  /// - Throws: `CommandFailure` for a daemon with a socket of its own, whose files are unknown, and for a user who
  ///   declines.
  func daemonOfFiles(_ context: CommandContext, hint: String = "give --system or --tenant NAME") throws -> DaemonPlace {
    let place = try DaemonPlace(location)
    guard place.mode != .byHand else {
      throw CommandFailure.usage(
        "The daemon at \(place.socket) has a socket of its own; where its files are is not known.", hints: [hint])
    }
    guard !isNamed else { return place }
    try context.errors.line("sdkctl: this is for \(place.name).")
    guard context.input.confirms("Go on?") else {
      throw CommandFailure(message: "Nothing was changed.", reason: "cancelled", status: 1, hints: [hint])
    }
    return place
  }
}

extension GlobalOptions {
  /// Throws for `--user`: the user's service manager loads no encrypted credentials.
  func checkCredentials() throws {
    guard user else { return }
    throw ValidationError(
      "The user's daemon keeps its key in root.key, beside its state; credentials are the system's.")
  }

  /// Returns the daemon whose root key, kept as a systemd credential, a command changes.
  ///
  /// - Throws: as `daemonOfFiles`; also `CommandFailure` for a daemon of a user or in a container, which has no such
  ///   credentials.
  func daemonOfCredentials(_ context: CommandContext) throws -> DaemonPlace {
    let place = try daemonOfFiles(context)
    guard place.mode != .user else {
      throw CommandFailure.usage(
        "The user's daemon keeps its key in root.key, beside its state.", hints: ["give --system or --tenant NAME"])
    }
    guard !place.isInContainer else {
      throw CommandFailure.usage(
        "sdkctl key changes credentials of systemd, and a container has none. The key there is the secret sdkd.key if "
          + "the container has one, else root.key beside the state.",
        hints: ["to keep the key elsewhere, set CREDENTIALS_DIRECTORY to a directory of secrets with the file sdkd.key"]
      )
    }
    return place
  }
}
