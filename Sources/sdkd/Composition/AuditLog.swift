import SDKProtocol
import Systemd

/// The path of audit records into the log. They bypass the log level; the log's own thread writes them.
enum AuditLog {
  /// Converts an audit record to a log record.
  static func logRecord(_ record: AuditRecord) -> LogRecord {
    var metadata: [String: String] = [:]
    for (field, value) in record.fields { metadata[field.rawValue] = value }
    metadata[AuditField.record.rawValue] = record.kind.rawValue
    return LogRecord(audit: record.message, messageID: record.kind.messageID, metadata: metadata)
  }
}
