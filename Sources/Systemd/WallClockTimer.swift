import CLinux
import Glibc
public import Linux
import Synchronization

/// A timer on the wall clock that also reports when the clock is set.
///
/// Deadlines of tokens are times of day. A monotonic timer is wrong after the clock is set, a sleep after a suspend.
/// The timer has its own thread; the daemon has one timer for all deadlines.
public final class WallClockTimer: Sendable {
  /// The reason for a call of `onWake`.
  public enum Wake: Sendable, Hashable {
    /// The deadline has passed. This can be outdated if the timer was just armed again, so check the clock.
    case deadline
    /// The clock was set, forward or back. An armed deadline stays armed and is measured by the new clock.
    case clockWasSet
  }

  private let core: Core

  /// Creates a timer that can be armed. It reports its wakes from `start` on.
  public init() throws(SystemCallError) { core = try Core() }

  /// Starts the thread, which makes one call of `onWake` at a time. It reports a set clock even if nothing is armed. To
  /// be called once.
  public func start(onWake: @escaping @Sendable (Wake) -> Void) throws(SystemCallError) {
    try SystemThread.start(name: "sdkd-clock") { [core] in core.run(onWake) }
  }

  deinit { cancel() }

  /// Arms the timer for a time, which replaces the previous one. A past time fires at once; nil or NaN disarms the
  /// timer.
  ///
  /// Can be called from any thread and from `onWake`.
  public func arm(secondsSince1970: Double?) {
    core.arm(secondsSince1970)
  }

  /// Ends the thread. A call of `onWake` in progress finishes and none follows. Arming has no effect afterwards.
  public func cancel() {
    core.cancel()
  }
}

extension WallClockTimer {
  /// The state that the timer shares with its thread. It can outlive the timer.
  fileprivate final class Core: Sendable {
    private struct State {
      var deadline: Double?
      /// Whether arming noticed a set clock that the thread has not reported yet.
      var clockWasSet = false
      var cancelled = false
    }

    private let timer: Int32
    private let wakeup: Int32
    private let state = Mutex(State())
    init() throws(SystemCallError) {
      let timer = cl_timerfd_realtime_create()
      guard timer >= 0 else { throw SystemCallError("timerfd_create", timer) }
      let wakeup = cl_eventfd_create()
      guard wakeup >= 0 else {
        close(timer)
        throw SystemCallError("eventfd", wakeup)
      }
      self.timer = timer
      self.wakeup = wakeup
      arm(nil)
    }

    deinit {
      close(timer)
      close(wakeup)
    }

    func arm(_ deadline: Double?) {
      state.withLock { state in
        state.deadline = deadline.flatMap { $0.isNaN ? nil : $0 }
        apply(&state)
      }
    }

    func cancel() {
      state.withLock { $0.cancelled = true }
      interrupt()
    }

    func run(_ onWake: (Wake) -> Void) {
      while true {
        var descriptors = [timer, wakeup].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&descriptors, 2, -1) >= 0 || errno == EINTR || errno == ENOMEM else { return }
        var count: UInt64 = 0
        _ = read(wakeup, &count, MemoryLayout.size(ofValue: count))
        let wakes = collect()
        guard let wakes else { return }
        for wake in wakes where !state.withLock(\.cancelled) { onWake(wake) }
      }
    }

    /// Returns the wakes to report; nil if the timer was cancelled.
    private func collect() -> [Wake]? {
      state.withLock { state in
        guard !state.cancelled else { return nil }
        let status = cl_timerfd_read(timer)
        let fired = status == 0 && state.deadline != nil
        if fired { state.deadline = nil }
        let clockWasSet = status == -ECANCELED || state.clockWasSet
        state.clockWasSet = false
        // Arm again: the kernel loses an expiry that coincides with a set clock, and an expired timer reports no set
        // clock.
        if status == 0 || clockWasSet { apply(&state) }
        return (clockWasSet ? [.clockWasSet] : []) + (fired ? [.deadline] : [])
      }
    }

    private func apply(_ state: inout State) {
      // Without a deadline, or beyond the kernel's range, the timer never expires but still reports a set clock.
      var seconds = Int64.max
      var nanoseconds: Int64 = 0
      if let deadline = state.deadline, deadline < 9e9 {
        let whole = max(deadline, 0).rounded(.down)
        seconds = Int64(whole)
        nanoseconds = min(999_999_999, Int64(((max(deadline, 0) - whole) * 1e9).rounded(.up)))
      }
      if cl_timerfd_set_realtime(timer, seconds, nanoseconds) == -ECANCELED {
        state.clockWasSet = true
        interrupt()
      }
    }

    private func interrupt() {
      var one: UInt64 = 1
      _ = write(wakeup, &one, MemoryLayout.size(ofValue: one))
    }
  }
}
