import DequeModule
import Dispatch

/// The records that were lost since the start.
public struct LostRecords: Sendable {
  /// The number of records.
  public var count: UInt64 = 0
  /// The time of the last loss; `nil` without one.
  public var last: ContinuousClock.Instant?
}

/// A queue of log records, bounded in entries and bytes. A value type, guarded by its owner.
struct LogQueue {
  /// The records that waited at one time, and the number of records dropped since the previous batch.
  struct Batch {
    var records = Deque<LogRecord>()
    var dropped: UInt64 = 0
    /// The number of dropped audit records, which `dropped` does not include.
    var droppedAudit: UInt64 = 0
  }

  private struct Waiter {
    let target: UInt64
    let semaphore: DispatchSemaphore
  }

  /// The limit for the waiting records of one kind, in number and bytes, and how much of it is used.
  private struct Room {
    let capacity: Int
    let byteCapacity: Int
    var count = 0
    var bytes = 0

    init(_ capacity: Int, _ byteCapacity: Int) {
      self.capacity = max(1, capacity)
      // A smaller bound would reject the longest record every time.
      self.byteCapacity = max(byteCapacity, 256 << 10)
    }

    mutating func take(_ length: Int) -> Bool {
      guard count < capacity, bytes + length <= byteCapacity else { return false }
      count += 1
      bytes += length
      return true
    }

    mutating func clear() { (count, bytes) = (0, 0) }
  }

  private var batch = Batch()
  private var room: Room
  /// The limit for audit records. It is separate, so that a flood of other records displaces none of them.
  private var auditRoom: Room
  private var accepted: UInt64 = 0
  private var written: UInt64 = 0
  private var waiters: [Waiter] = []
  /// Whether the writer's thread sleeps, because all accepted records are written.
  private(set) var isIdle = false
  /// Whether the queue rejects further records.
  private(set) var isClosed = false
  /// The number of records lost so far: rejected by the queue, or not written because of an error.
  private(set) var lost: UInt64 = 0
  /// The audit records among them, and the time of the last loss.
  private(set) var lostAudit = LostRecords()

  init(capacity: Int, byteCapacity: Int) {
    room = Room(capacity, byteCapacity)
    auditRoom = Room(capacity, byteCapacity)
  }

  /// Adds a record, or drops and counts it. Returns whether the thread must be woken.
  mutating func append(_ record: LogRecord) -> Bool {
    guard !isClosed else {
      count(1, audit: record.isAudit ? 1 : 0)
      return false
    }
    let length = record.byteCount
    if record.isAudit ? auditRoom.take(length) : room.take(length) {
      batch.records.append(record)
      accepted &+= 1
    } else {
      count(1, audit: record.isAudit ? 1 : 0)
      if record.isAudit { batch.droppedAudit &+= 1 } else { batch.dropped &+= 1 }
    }
    defer { isIdle = false }
    return isIdle
  }

  /// Returns the records to write. If there are none, marks the thread as idle and returns nil.
  mutating func take() -> Batch? {
    if batch.records.isEmpty && batch.dropped == 0 && batch.droppedAudit == 0 {
      isIdle = true
      release { _ in true }
      return nil
    }
    var taken = Batch()
    swap(&taken, &batch)
    room.clear()
    auditRoom.clear()
    return taken
  }

  /// Counts a batch as written and signals the callers that waited for it.
  mutating func finish(count: Int, failed: UInt64, failedAudit: UInt64) {
    written &+= UInt64(count)
    self.count(failed, audit: failedAudit)
    let reached = written
    release { $0 <= reached }
  }

  private mutating func count(_ lost: UInt64, audit: UInt64) {
    self.lost &+= lost
    guard audit > 0 else { return }
    lostAudit.count &+= audit
    lostAudit.last = .now
  }

  /// Rejects all further records. Returns whether the thread must be woken to notice.
  mutating func close() -> Bool {
    isClosed = true
    return isIdle
  }

  /// Signals the semaphore once all accepted records are written. Returns false, without a signal, if they already are.
  mutating func wait(_ semaphore: DispatchSemaphore) -> Bool {
    if isIdle { return false }
    waiters.append(Waiter(target: accepted, semaphore: semaphore))
    return true
  }

  private mutating func release(_ isDone: (UInt64) -> Bool) {
    guard !waiters.isEmpty else { return }
    for waiter in waiters where isDone(waiter.target) { waiter.semaphore.signal() }
    waiters.removeAll { isDone($0.target) }
  }
}
