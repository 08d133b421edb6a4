public import Logging

/// A log handler that queues records for the writer's thread. It does no input or output itself.
public struct QueuedLogHandler: LogHandler {
  /// The metadata of this logger.
  public var metadata: Logger.Metadata = [:]
  /// The provider of metadata of the task that logs.
  public var metadataProvider: Logger.MetadataProvider?
  private var ownLevel: Logger.Level?
  private let label: String
  private let writer: LogWriter

  /// Creates a handler for the logger with this name.
  public init(label: String, writer: LogWriter, metadataProvider: Logger.MetadataProvider? = nil) {
    self.label = label
    self.writer = writer
    self.metadataProvider = metadataProvider
  }

  /// The level of this logger if one was set, else the writer's, which can change at any time.
  public var logLevel: Logger.Level {
    get { ownLevel ?? writer.level }
    set { ownLevel = newValue }
  }

  /// The metadata of this logger by key.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Queues the event. Drops and counts it if the queue is full.
  public func log(event: LogEvent) {
    var merged = metadata
    if let provided = metadataProvider?.get() { merged.merge(provided) { $1 } }
    if let explicit = event.metadata { merged.merge(explicit) { $1 } }
    if let error = event.error {
      merged["error.message"] = "\(error)"
      merged["error.type"] = "\(String(reflecting: type(of: error)))"
    }
    writer.write(LogRecord(event: event, label: label, metadata: merged))
  }
}
