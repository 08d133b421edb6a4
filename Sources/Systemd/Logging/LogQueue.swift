import DequeModule
import Dispatch

/// What waits to be written, bounded in entries and bytes. A value, guarded by its owner.
struct LogQueue {
  /// Everything that waited at one time; what was dropped came after it.
  struct Batch {
    var records = Deque<LogRecord>()
    var dropped: UInt64 = 0
    /// The same of the audit.
    var droppedAudit: UInt64 = 0
  }

  private struct Waiter {
    let target: UInt64
    let semaphore: DispatchSemaphore
  }

  /// What may wait of one sort.
  private struct Room {
    let capacity: Int
    let byteCapacity: Int
    var count = 0
    var bytes = 0

    init(_ capacity: Int, _ byteCapacity: Int) {
      self.capacity = max(1, capacity)
      // Less would never take the longest record.
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
  /// The audit's own, so that no flood of other lines costs a record.
  private var auditRoom: Room
  private var accepted: UInt64 = 0
  private var written: UInt64 = 0
  private var waiters: [Waiter] = []
  /// The thread sleeps and everything is written.
  private(set) var isIdle = false
  /// Nothing is taken any more.
  private(set) var isClosed = false
  /// Lines lost so far, full queues and failed writes together.
  private(set) var lost: UInt64 = 0

  init(capacity: Int, byteCapacity: Int) {
    room = Room(capacity, byteCapacity)
    auditRoom = Room(capacity, byteCapacity)
  }

  /// Takes or drops a record. True if the thread has to be woken.
  mutating func append(_ record: LogRecord) -> Bool {
    guard !isClosed else {
      lost &+= 1
      return false
    }
    let length = record.byteCount
    if record.isAudit ? auditRoom.take(length) : room.take(length) {
      batch.records.append(record)
      accepted &+= 1
    } else {
      lost &+= 1
      if record.isAudit { batch.droppedAudit &+= 1 } else { batch.dropped &+= 1 }
    }
    defer { isIdle = false }
    return isIdle
  }

  /// What there is to write, or nil, and then the thread counts as idle.
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

  /// Notes that a batch is done.
  mutating func finish(count: Int, failed: UInt64) {
    written &+= UInt64(count)
    lost &+= failed
    let reached = written
    release { $0 <= reached }
  }

  /// True if the thread has to be woken to find out.
  mutating func close() -> Bool {
    isClosed = true
    return isIdle
  }

  /// Signals once everything accepted so far is written; false if it is already.
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
