import Dispatch
import Logging
import Synchronization
import Systemd

/// A sink that keeps its records. With `held`, writes block until `release()`, as with a journald that hangs.
final class RecordingSink: LogSink {
  private let records = Mutex<[LogRecord]>([])
  private let gate: DispatchSemaphore?
  private let entered = DispatchSemaphore(value: 0)
  private let broken: Atomic<Bool>

  init(held: Bool = false, broken: Bool = false) {
    gate = held ? DispatchSemaphore(value: 0) : nil
    self.broken = Atomic(broken)
  }

  var messages: [String] { records.withLock { $0.map(\.message) } }
  var all: [LogRecord] { records.withLock { $0 } }

  func write(_ record: LogRecord) -> Bool {
    if let gate {
      entered.signal()
      gate.wait()
      gate.signal()
    }
    guard !broken.load(ordering: .relaxed) else { return false }
    records.withLock { $0.append(record) }
    return true
  }

  /// Waits until the writer's thread is inside a write. Returns false after ten seconds.
  func waitUntilEntered() -> Bool { entered.wait(timeout: .now() + .seconds(10)) == .success }

  func release() { gate?.signal() }

  func repair() { broken.store(false, ordering: .relaxed) }
}

/// Returns a record as a logger would make it.
func record(
  _ message: String, level: Logger.Level = .info, metadata: Logger.Metadata = [:]
) -> LogRecord {
  let event = LogEvent(
    level: level, message: Logger.Message(stringLiteral: message), metadata: nil, source: nil,
    file: "SDKInstances/Instance.swift", function: "login()", line: 42)
  return LogRecord(event: event, label: "sdkd.test", metadata: metadata)
}
