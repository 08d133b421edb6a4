/// A destination of log records, called on the writer's thread.
public protocol LogSink: Sendable {
  /// Writes one record. May block. Returns false if the record is lost.
  func write(_ record: LogRecord) -> Bool
}
