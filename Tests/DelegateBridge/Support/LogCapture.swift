import Logging
import Synchronization

/// A recorder of log lines.
final class LogCapture: Sendable {
  struct Line: Sendable {
    let text: String
    let metadata: Logger.Metadata
  }

  private let kept = Mutex<[Line]>([])

  var lines: [Line] { kept.withLock { $0 } }
  var text: String { lines.map(\.text).joined(separator: "\n") }
  var logger: Logger { Logger(label: "test") { _ in Handler(capture: self) } }

  fileprivate func keep(_ line: Line) { kept.withLock { $0.append(line) } }

  private struct Handler: LogHandler {
    let capture: LogCapture
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      capture.keep(Line(text: event.message.description, metadata: metadata.merging(event.metadata ?? [:]) { $1 }))
    }
  }
}
