/// Where the writer's thread puts records.
public protocol LogSink: Sendable {
  /// Writes one record; may block. False if it is lost.
  func write(_ record: LogRecord) -> Bool
}
