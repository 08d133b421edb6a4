import Logging

@testable import StateStore

/// A log handler that keeps its lines.
struct LineHandler: LogHandler {
  let lines: Seen<[String]>
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { lines.update { $0.append(event.message.description) } }
}
