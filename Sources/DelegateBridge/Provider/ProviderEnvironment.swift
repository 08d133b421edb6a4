/// Which variables a provider gets: few, and none that would speak to systemd or the dynamic linker.
enum ProviderEnvironment {
  private static let refusedNames: Set<String> = ["NOTIFY_SOCKET", "CREDENTIALS_DIRECTORY", "JOURNAL_STREAM"]
  private static let refusedPrefixes = ["LISTEN_", "WATCHDOG_", "LD_", "SDKD_"]

  /// Why a configuration may not name this variable, as a sentence; `nil` if it may.
  static func problem(ofName name: String) -> String? {
    let shown = name.prefix(64).debugDescription
    let isWord = name.unicodeScalars.allSatisfy { scalar in
      scalar == "_" || ("0"..."9").contains(scalar) || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }
    guard isWord, let first = name.utf8.first, !(0x30...0x39).contains(first) else {
      return "\(shown) is no name of a variable; use letters, digits and underscores."
    }
    if refusedNames.contains(name) || refusedPrefixes.contains(where: { name.hasPrefix($0) }) {
      return "The variable \(name) belongs to the daemon and can't be given to a provider."
    }
    return nil
  }
}
