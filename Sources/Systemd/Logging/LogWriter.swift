import DequeModule
import Dispatch
public import Linux
public import Logging
import Synchronization

/// A thread that writes the records of all loggers of the process.
///
/// A log call only appends to a queue. If journald, a terminal or a pipe is too slow for long, the queue fills and
/// further records are dropped. A line reports their number once there is space again.
public final class LogWriter: Sendable {
  /// The default number of records that may wait.
  public static let defaultCapacity = 8192
  /// The default size of the records that may wait, in bytes, approximately. One record can have 50 kB.
  public static let defaultByteCapacity = 8 << 20

  private let sink: any LogSink
  private let queue: Mutex<LogQueue>
  private let wakeup = DispatchSemaphore(value: 0)
  private let threshold: LogThreshold

  /// Creates a writer and starts its thread.
  public init(
    sink: any LogSink, level: Logger.Level = .info, capacity: Int = defaultCapacity,
    byteCapacity: Int = defaultByteCapacity
  ) throws(SystemCallError) {
    self.sink = sink
    threshold = LogThreshold(level)
    queue = Mutex(LogQueue(capacity: capacity, byteCapacity: byteCapacity))
    try SystemThread.start(name: "sdkd-log") { self.run() }
  }

  /// The level of all loggers without a level of their own.
  public var level: Logger.Level { threshold.level }

  /// Sets the level of all loggers without a level of their own, effective at once.
  public func setLevel(_ level: Logger.Level) {
    threshold.level = level
  }

  /// The number of records lost since the start: the queue was full or closed, or the write failed.
  public var droppedCount: UInt64 { queue.withLock { $0.lost } }

  /// The audit records among those of `droppedCount`.
  public var lostAudit: LostRecords { queue.withLock { $0.lostAudit } }

  /// Queues a record, or drops and counts it. Never waits for input or output.
  public func write(_ record: LogRecord) {
    if queue.withLock({ $0.append(record) }) { wakeup.signal() }
  }

  /// Waits until all earlier records are written. Blocks the thread; use it before the process exits.
  /// - Returns: false if the deadline passed first.
  @discardableResult
  public func flush(deadline: ContinuousClock.Instant) -> Bool {
    let done = DispatchSemaphore(value: 0)
    guard queue.withLock({ $0.wait(done) }) else { return true }
    let (seconds, attoseconds) = max(.zero, ContinuousClock.now.duration(to: deadline)).components
    let nanoseconds = Int(min(seconds, 1 << 32)) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    return done.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success
  }

  /// Lets the thread write the waiting records and end. Later records are dropped.
  public func close() {
    if queue.withLock({ $0.close() }) { wakeup.signal() }
  }

  private func run() {
    // Records lost since the last line that reported a loss.
    var unreported: UInt64 = 0
    var unreportedAudit: UInt64 = 0
    while true {
      let (taken, isClosed) = queue.withLock { queue in (queue.take(), queue.isClosed) }
      guard let taken else {
        if isClosed { return }
        wakeup.wait()
        continue
      }
      var failed: UInt64 = 0
      var failedAudit: UInt64 = 0
      for record in taken.records where !sink.write(record) {
        failed &+= 1
        if record.isAudit { failedAudit &+= 1 }
      }
      unreportedAudit = unreportedAudit &+ taken.droppedAudit &+ failedAudit
      if unreportedAudit > 0, sink.write(Self.notice(lostAudit: unreportedAudit)) { unreportedAudit = 0 }
      unreported = unreported &+ taken.dropped &+ (failed &- failedAudit)
      if unreported > 0, sink.write(Self.notice(dropped: unreported)) { unreported = 0 }
      let count = taken.records.count
      queue.withLock { $0.finish(count: count, failed: failed, failedAudit: failedAudit) }
    }
  }

  /// The `MESSAGE_ID` of the record that reports how many audit records were lost.
  public static let auditLostMessageID = "e7a05b3c9f2d41d68c1b4a7f60d98e07"

  private static func notice(lostAudit count: UInt64) -> LogRecord {
    LogRecord(
      audit: "\(count) audit records lost: the journal did not take them in time.", messageID: auditLostMessageID,
      metadata: ["record": "lost", "outcome": "lost", "count": "\(count)"])
  }

  private static func notice(dropped: UInt64) -> LogRecord {
    let event = LogEvent(
      level: .warning, message: "\(dropped) log lines dropped", metadata: nil, source: nil, file: #fileID,
      function: #function, line: #line)
    return LogRecord(
      event: event, label: "sdkd.log",
      metadata: ["audit": "1", "record": "lost", "outcome": "lost", "dropped": "\(dropped)"])
  }
}
