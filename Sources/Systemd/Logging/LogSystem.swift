public import Linux
public import Logging
import Synchronization

/// The logging of the process.
public enum LogSystem {
  private static let installed = Mutex<LogWriter?>(nil)

  /// Makes every `Logger` of the process write through one ``LogWriter``.
  ///
  /// A second call changes nothing and returns the writer of the first.
  ///
  /// - Throws: if the journal socket's path is too long, or no thread can be started.
  @discardableResult
  public static func bootstrap(
    level: Logger.Level, output: LogOutput = .detect(), identifier: String = "sdkd"
  ) throws(SystemCallError) -> LogWriter {
    let (writer, isNew) = try installed.withLock { current throws(SystemCallError) in
      if let current { return (current, false) }
      let writer = try LogWriter(sink: output.sink(identifier: identifier), level: level)
      current = writer
      return (writer, true)
    }
    if isNew {
      LoggingSystem.bootstrap(
        { label, provider in QueuedLogHandler(label: label, writer: writer, metadataProvider: provider) },
        metadataProvider: nil)
    }
    return writer
  }
}

/// The level below which nothing is logged, shared by all loggers. It can change while the daemon runs.
public final class LogThreshold: Sendable {
  private static let levels = Logger.Level.allCases
  private let index: Atomic<Int>

  /// Creates a threshold with this initial level.
  public init(_ level: Logger.Level) {
    index = Atomic(Self.levels.firstIndex(of: level) ?? 0)
  }

  /// The current level.
  public var level: Logger.Level {
    get { Self.levels[index.load(ordering: .relaxed)] }
    set { index.store(Self.levels.firstIndex(of: newValue) ?? 0, ordering: .relaxed) }
  }
}
