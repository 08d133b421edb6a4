import CLinux
import Concurrency
import Logging
import Synchronization

/// The decision when free memory of the heap goes back to the system: when a burst of work is over.
struct HeapTrim {
  /// The bytes by which the memory must have grown since the last trim. Less is not worth its cost.
  static let growth = 4.0 * 1024 * 1024

  private var processorTime = 0.0
  private var busiest = 0.0
  private var smallest = 0.0

  /// Takes a reading, and returns whether to trim now. Readings come at equal intervals.
  ///
  /// A burst is over when an interval took a quarter of the processor time of the busiest one since the last trim. The
  /// start counts as a burst.
  ///
  /// - Parameters:
  ///   - processorTime: in seconds, since the start.
  ///   - memory: the resident bytes that do not belong to files.
  mutating func isDue(processorTime: Double, memory: Double) -> Bool {
    let used = processorTime - self.processorTime
    self.processorTime = processorTime
    busiest = max(busiest, used)
    smallest = min(smallest, memory)
    return used <= busiest / 4 && memory >= smallest + Self.growth
  }

  /// Takes the memory after a trim.
  mutating func trimmed(to memory: Double) {
    busiest = 0
    smallest = memory
  }
}

/// The part that gives free memory of the heap back to the system.
///
/// The C library keeps free memory that lies between memory in use. To give it back takes milliseconds, in which the
/// allocator is locked. So this happens on a thread of its own, only after bursts, and not while one lasts.
final class HeapTrimmer: Sendable {
  private let trim = Mutex(HeapTrim())
  private let pool = BlockingPool(name: "sdkd-heap", maximum: 1)
  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  /// Trims the heap if a burst is over. To be called at equal intervals, never twice at once.
  func look() async {
    guard let time = ProcessReading.processorTime, let before = ProcessReading.anonymousBytes,
      trim.withLock({ $0.isDue(processorTime: time, memory: before) })
    else { return }
    // Without a thread nothing goes back before the next burst.
    _ = try? await pool.run { cl_trim_heap() }
    let after = ProcessReading.anonymousBytes ?? before
    trim.withLock { $0.trimmed(to: after) }
    logger.debug(
      "A burst is over: memory \(Self.kib(before)) KiB, after the free part went back \(Self.kib(after)) KiB")
  }

  private static func kib(_ bytes: Double) -> Int { Int(bytes / 1024) }
}
