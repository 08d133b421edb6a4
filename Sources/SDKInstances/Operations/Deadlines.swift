import HeapModule
public import SDKProtocol
import Synchronization

/// A timer that wakes at a time of the wall clock; one for the whole daemon.
public protocol DeadlineTimer: Sendable {
  /// Arms the timer for this time; `nil` disarms it. The latest call counts.
  func arm(at time: Timestamp?)
}

/// The schedule of the times at which instances have work to do. A heap holds the times, and one timer serves all of
/// them.
public final class Deadlines: Sendable {
  public typealias Work = @Sendable () -> Void

  private struct DueTime: Comparable {
    var time: Timestamp
    var key: String
    var generation: UInt64

    static func < (one: DueTime, other: DueTime) -> Bool {
      one.time == other.time ? one.generation < other.generation : one.time < other.time
    }
  }

  private struct State {
    var heap = Heap<DueTime>()
    var current: [String: (generation: UInt64, work: Work)] = [:]
    var generation: UInt64 = 0
  }

  private let state = Mutex(State())
  private let clock: WallClock
  private let timer: any DeadlineTimer

  /// Creates an empty set of deadlines.
  ///
  /// - Parameter timer: is armed for the first deadline. Its owner calls `wake` when it fires.
  public init(clock: WallClock, timer: any DeadlineTimer) {
    self.clock = clock
    self.timer = timer
  }

  /// Sets or moves the only deadline of a key; `nil` removes it. `work` must be quick.
  public func set(_ key: String, at time: Timestamp?, _ work: @escaping Work) {
    state.withLock { state in
      let former = state.heap.min?.time
      state.generation += 1
      if let time {
        state.current[key] = (state.generation, work)
        state.heap.insert(DueTime(time: time, key: key, generation: state.generation))
      } else {
        state.current[key] = nil
      }
      Self.prune(&state)
      if state.heap.min?.time != former { timer.arm(at: state.heap.min?.time) }
    }
  }

  /// Runs the work that is due. To be called when the timer fires, and when the clock was set.
  public func wake() {
    let now = clock.now()
    let due = state.withLock { state in
      var due: [Work] = []
      while let first = state.heap.min, first.time <= now {
        state.heap.removeMin()
        guard let entry = state.current[first.key], entry.generation == first.generation else { continue }
        state.current[first.key] = nil
        due.append(entry.work)
      }
      Self.prune(&state)
      timer.arm(at: state.heap.min?.time)
      return due
    }
    for work in due { work() }
  }

  /// Removes outdated entries, which moved deadlines leave behind, so that the first entry is always a current one.
  private static func prune(_ state: inout State) {
    while let first = state.heap.min, state.current[first.key]?.generation != first.generation {
      state.heap.removeMin()
    }
    if state.heap.count > 64, state.heap.count > 4 * state.current.count {
      state.heap = Heap(state.heap.unordered.filter { state.current[$0.key]?.generation == $0.generation })
    }
  }
}
