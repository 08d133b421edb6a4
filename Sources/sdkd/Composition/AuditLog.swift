import SDKProtocol
import Systemd

/// The audit's way into the log: past the level, by the log's own thread.
enum AuditLog {
  /// A record as the log takes it.
  static func logRecord(_ record: AuditRecord) -> LogRecord {
    var metadata: [String: String] = [:]
    for (field, value) in record.fields { metadata[field.rawValue] = value }
    metadata[AuditField.record.rawValue] = record.kind.rawValue
    return LogRecord(audit: record.message, messageID: record.kind.messageID, metadata: metadata)
  }
}
