import SDKClient

extension GlobalOptions {
  /// Whether an option says which daemon is meant.
  var isNamed: Bool { user || system || tenant != nil }

  /// The daemon whose files a command changes without asking it, such as its keys.
  ///
  /// Standard error names it when no option does, and on a terminal the user is asked.
  ///
  /// - Throws: `CommandFailure` for a daemon with a socket of its own, whose files only the one who started it knows, and
  ///   for a user who says no.
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
