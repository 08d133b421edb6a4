import Linux

/// A destination of log records, called on the writer's thread.
public protocol LogSink: Sendable {
  /// Writes one record. May block. Returns false if the record is lost.
  func write(_ record: LogRecord) -> Bool
}

/// A sink that writes records to a journal, with their metadata as fields.
public struct JournalSink: LogSink {
  private let destination: any JournalDestination
  private let identifier: String

  /// A sink for a journal. `identifier` is the SYSLOG_IDENTIFIER, by which `journalctl -t` finds the entries.
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
