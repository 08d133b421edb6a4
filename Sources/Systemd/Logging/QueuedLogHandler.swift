public import Logging

/// Takes log calls as records and leaves them to the writer's thread: it does no input or output.
public struct QueuedLogHandler: LogHandler {
  /// The metadata of this logger.
  public var metadata: Logger.Metadata = [:]
  /// Adds metadata of the task that logs.
  public var metadataProvider: Logger.MetadataProvider?
  private var ownLevel: Logger.Level?
  private let label: String
  private let writer: LogWriter

  /// A handler for the logger of that name.
  public init(label: String, writer: LogWriter, metadataProvider: Logger.MetadataProvider? = nil) {
    self.label = label
    self.writer = writer
    self.metadataProvider = metadataProvider
  }

  /// The level of this logger if it was given one, else the writer's, which can change at any time.
  public var logLevel: Logger.Level {
    get { ownLevel ?? writer.level }
    set { ownLevel = newValue }
  }

  /// Metadata of this logger by its key.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Hands the event to the writer; it is dropped and counted if the queue is full.
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
