import JSONRPC
import SDKProtocol

/// An entry of the daemon's log, read back from the journal or from its standard error.
struct LogEntry: Hashable {
  /// The time; `nil` in text without times.
  var time: Timestamp?
  /// The level, such as `warning`.
  var level: String
  /// The instance that the entry is about.
  var instance: String?
  var message: String

  private static let levels = ["emergency", "alert", "critical", "error", "warning", "notice", "info", "debug"]

  /// Reads an entry of `journalctl -o json`.
  init(journal object: JSONObject) {
    let microseconds = object["__REALTIME_TIMESTAMP"]?.stringValue.flatMap(Double.init)
    time = microseconds.map { Timestamp(secondsSince1970: ($0 / 1000).rounded(.down) / 1000) }
    let priority = object["PRIORITY"]?.stringValue.flatMap { Int($0) } ?? 6
    level = Self.levels.indices.contains(priority) ? Self.levels[priority] : "info"
    instance = object[AuditField.instance.journalName]?.stringValue
    message = object["MESSAGE"]?.stringValue ?? ""
  }

  /// Reads a line of the log on standard error; `nil` for a line of another form.
  init?(line: String) {
    guard let parsed = LogLine(line) else { return nil }
    time = parsed.time
    level = parsed.level
    instance = parsed.pairs.first { $0.key == AuditField.instance.rawValue }?.value
    message = parsed.message
  }

  /// Returns the entry on one line.
  ///
  /// - Parameter format: formats the time.
  func text(time format: (Timestamp) -> String = \.description) -> String {
    [time.map(format) ?? "-", level, instance ?? "-", message].joined(separator: "  ")
  }

  /// The entry as JSON for scripts.
  var json: JSON {
    var object = JSONObject()
    object["time"] = time.map { .string($0.description) }
    object["level"] = .string(level)
    object["instance"] = instance.map(JSON.string)
    object["message"] = .string(message)
    return .object(object)
  }
}
