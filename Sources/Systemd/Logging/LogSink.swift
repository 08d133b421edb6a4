import Linux
import Logging

/// A destination of log records, called on the writer's thread.
public protocol LogSink: Sendable {
  /// Writes one record. May block. Returns false if the record is lost.
  func write(_ record: LogRecord) -> Bool
}

/// A sink that writes records to a journal, with their metadata as fields.
public struct JournalSink: LogSink {
  private let destination: any JournalDestination
  private let identifier: String

  /// Creates a sink for a journal. `identifier` is the SYSLOG_IDENTIFIER, by which `journalctl -t` finds the entries.
  public init(destination: any JournalDestination, identifier: String = "sdkd") {
    self.destination = destination
    self.identifier = identifier
  }

  /// Sends one entry. Returns false if that failed.
  public func write(_ record: LogRecord) -> Bool {
    do throws(SystemCallError) {
      try destination.send(JournalEntry.fields(of: record, identifier: identifier))
      return true
    } catch {
      return false
    }
  }
}

/// The conversion of log records into journal fields.
enum JournalEntry {
  /// Returns MESSAGE, PRIORITY, SYSLOG_IDENTIFIER, CODE_*, MESSAGE_ID and SDKD_*, as far as the record has them.
  static func fields(of record: LogRecord, identifier: String) -> [JournalField] {
    var fields = [
      JournalField("MESSAGE", record.message),
      JournalField("PRIORITY", String(priority(of: record.level))),
      JournalField("SYSLOG_IDENTIFIER", identifier),
      JournalField("CODE_FILE", record.file),
      JournalField("CODE_LINE", String(record.line)),
      JournalField("CODE_FUNC", record.function),
      JournalField(JournalField.prefix + "LOGGER", record.label),
    ]
    for (key, value) in record.metadata {
      if key == LogRecord.messageIDKey, let identifier = messageID(value) {
        fields.append(JournalField("MESSAGE_ID", identifier))
      } else if let name = JournalField.name(forKey: key) {
        let isFlag = name == "SDKD_AUDIT" && value == "true"
        fields.append(JournalField(name, isFlag ? "1" : value))
      }
    }
    return fields
  }

  /// Returns the syslog priority of a log level, 0 to 7.
  static func priority(of level: Logger.Level) -> Int {
    switch level {
    case .trace, .debug: 7
    case .info: 6
    case .notice: 5
    case .warning: 4
    case .error: 3
    case .critical: 2
    }
  }

  /// Returns 32 lower-case hexadecimal digits, as in the catalog; nil if the text is not such an identifier.
  private static func messageID(_ text: String) -> String? {
    let digits = text.lowercased().filter { $0 != "-" }
    let hexadecimal = digits.utf8.allSatisfy {
      ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")) || ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "f"))
    }
    return hexadecimal && digits.utf8.count == 32 ? digits : nil
  }
}
