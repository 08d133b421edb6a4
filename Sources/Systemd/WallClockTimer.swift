import CLinux
import Glibc
import Synchronization

/// A timer on the wall clock that notices when somebody sets the clock.
///
/// Deadlines of tokens are times of day, so neither a monotonic timer nor a sleep fits: the first is wrong after
/// the clock is set, the second after a suspend. It runs a thread of its own; the daemon has one for all deadlines.
public final class WallClockTimer: Sendable {
  /// Why the timer called.
  public enum Wake: Sendable, Hashable {
    /// The time has come. A hint: it can be on its way while the timer is armed anew, so look at the clock.
    case deadline
    /// The clock was set, forward or back. What is armed stays armed and is measured by the new clock.
    case clockWasSet
  }

  private let core: Core

  /// Starts the thread, which calls `onWake` one call after the other. A set clock is reported from now on,
  /// whether something is armed or not.
  public init(onWake: @escaping @Sendable (Wake) -> Void) throws(SystemCallError) {
    let core = try Core(onWake: onWake)
    self.core = core
    try SystemThread.start(name: "sdkd-clock") { core.run() }
  }

  deinit { cancel() }

  /// Arms the timer for a time, instead of what it was armed for; at once if that is past. Nil, or a number that
  /// is none, disarms it. Can be called from any thread and from `onWake`.
  public func arm(secondsSince1970: Double?) {
    core.arm(secondsSince1970)
  }

  /// Ends the thread. Nothing is reported after a call that is under way; arming has no effect any more.
  public func cancel() {
    core.cancel()
  }
}

extension WallClockTimer {
  /// What the thread shares with the timer, and outlives it with.
  fileprivate final class Core: Sendable {
    private struct State {
      var deadline: Double?
      /// Noticed while arming, to be reported by the thread.
      var clockWasSet = false
      var cancelled = false
    }

    private let timer: Int32
    private let wakeup: Int32
    private let state = Mutex(State())
    private let onWake: @Sendable (Wake) -> Void

    init(onWake: @escaping @Sendable (Wake) -> Void) throws(SystemCallError) {
      let timer = cl_timerfd_realtime_create()
      guard timer >= 0 else { throw SystemCallError("timerfd_create", timer) }
      let wakeup = cl_eventfd_create()
      guard wakeup >= 0 else {
        close(timer)
        throw SystemCallError("eventfd", wakeup)
      }
      self.timer = timer
      self.wakeup = wakeup
      self.onWake = onWake
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

    func run() {
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

    /// What to report now; nil when cancelled.
    private func collect() -> [Wake]? {
      state.withLock { state in
        guard !state.cancelled else { return nil }
        let status = cl_timerfd_read(timer)
        let fired = status == 0 && state.deadline != nil
        if fired { state.deadline = nil }
        let clockWasSet = status == -ECANCELED || state.clockWasSet
        state.clockWasSet = false
        // The kernel forgets an expiry that coincides with a set clock, and a fired timer watches no clock.
        if status == 0 || clockWasSet { apply(&state) }
        return (clockWasSet ? [.clockWasSet] : []) + (fired ? [.deadline] : [])
      }
    }

    private func apply(_ state: inout State) {
      // Past the end of the kernel's time it stands still but goes on watching the clock.
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
