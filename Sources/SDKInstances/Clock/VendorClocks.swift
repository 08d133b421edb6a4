import SDKProtocol
import StateStore
import Synchronization

/// The vendors' clocks, one for each instance: two instances may have different vendors.
final class VendorClocks: Sendable {
  private let clocks = Mutex<[InstanceUUID: VendorClock]>([:])
  private let ours: WallClock
  private let uptime: MonotonicClock
  /// The seconds by which the daemon's clock is ahead of `uptime`. The value changes only when the clock is set.
  private let lead: Mutex<Double>

  init(_ ours: WallClock, uptime: MonotonicClock = .system) {
    self.ours = ours
    self.uptime = uptime
    lead = Mutex(Self.lead(of: ours, over: uptime))
  }

  private static func lead(of ours: WallClock, over uptime: MonotonicClock) -> Double {
    ours.now().secondsSince1970 - uptime.now() / .seconds(1)
  }

  /// Keeps the vendors' times unchanged after the daemon's clock was set.
  func clockWasSet() {
    let next = Self.lead(of: ours, over: uptime)
    let seconds = lead.withLock { lead in
      defer { lead = next }
      return next - lead
    }
    for clock in clocks.withLock({ Array($0.values) }) { clock.shift(by: seconds) }
  }

  /// Returns the clock of an instance's vendor.
  func clock(of instance: InstanceUUID) -> VendorClock {
    clocks.withLock { clocks in
      if let known = clocks[instance] { return known }
      let clock = VendorClock(ours)
      clocks[instance] = clock
      return clock
    }
  }

  /// Removes the clock of an instance.
  func forget(_ instance: InstanceUUID) { clocks.withLock { $0[instance] = nil } }
}
