import JSONRPC
import SDKProtocol

/// The newest journal entries of the daemon and of systemd about it, for a support bundle.
struct BundleJournal {
  /// The number of entries that are read.
  static let count = 1000

  /// The fields that are shown besides the message. None holds a user or a secret.
  private static let fields: [String] =
    [
      AuditField.record, .method, .kind, .service, .outcome, .count, .event, .cause, .changed, .question, .provider,
      .exit,
      .duration,
    ].map(\.journalName) + ["SDKD_REASON", "SDKD_REFERENCE", "UNIT", "USER_UNIT"]
  /// The field of lines that a token provider wrote to its standard error.
  private static let providerOutput = "SDKD_PROVIDER_OUTPUT"
  /// The programs whose entries are shown, as the kernel names them. Token providers are children of the daemon, belong to
  /// its unit, and may log by themselves.
  private static let programs: Set<Substring> = ["sdkd", "systemd"]

  private let entries: [JSONObject]
  private let unreadable: Int

  /// Reads the lines of `journalctl -o json`.
  init(_ text: String) {
    var (entries, unreadable): ([JSONObject], Int) = ([], 0)
    for line in text.split(separator: "\n") where !line.hasPrefix("-- ") {
      if let entry = (try? JSONParser.parse(String(line)))?.objectValue {
        entries.append(entry)
      } else {
        unreadable += 1
      }
    }
    (self.entries, self.unreadable) = (entries, unreadable)
  }

  /// The arguments of `journalctl` for units, with matches that other users' entries do not have.
  static func arguments(units: [String], manager: [String], matches: [String] = []) -> [String] {
    let names = ["MESSAGE", "PRIORITY", "_PID", "_EXE", AuditField.instance.journalName, AuditField.user.journalName]
    let fields = (names + fields + [providerOutput]).joined(separator: ",")
    return ["journalctl"] + manager + ["--no-pager", "-o", "json", "--lines=\(count)", "--output-fields=\(fields)"]
      + units.flatMap { ["-u", $0] } + matches
  }

  /// Returns whether the daemon or systemd wrote an entry.
  private static func isShown(_ entry: JSONObject) -> Bool {
    guard entry[providerOutput] == nil else { return false }
    return entry["_PID"]?.stringValue == "1"
      || entry["_EXE"]?.stringValue?.split(separator: "/").last.map(programs.contains) ?? false
  }

  /// The ids of users in the entries.
  var users: [String] { entries.compactMap { $0[AuditField.user.journalName]?.stringValue } }

  /// Returns the entries, one on each line, without users, secrets, and what token providers wrote.
  func text(_ mask: BundleMask) -> String {
    let shown = entries.filter(Self.isShown)
    var lines = shown.map { entry in
      let fields = Self.fields.compactMap { name in entry[name]?.stringValue.map { "\(name)=\($0)" } }
      return mask.masked(SecretMask.mask(LogEntry(journal: entry).text())) + (fields.isEmpty ? "" : "  ")
        + fields.joined(separator: " ")
    }
    let hidden = entries.count - shown.count
    if hidden > 0 { lines.append("Lines of token providers and other programs, which are left out: \(hidden).") }
    if unreadable > 0 { lines.append("Lines that could not be read: \(unreadable).") }
    return lines.joined(separator: "\n")
  }
}
