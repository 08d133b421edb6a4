import SDKProtocol
import StateStore
import Synchronization

/// The vendors' clocks, one for each instance: two instances may have different vendors.
final class VendorClocks: Sendable {
  private let clocks = Mutex<[InstanceUUID: VendorClock]>([:])
  private let farClocks = FarClocks()
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
      let clock = VendorClock(ours, of: instance, farClocks)
      clocks[instance] = clock
      return clock
    }
  }

  /// Removes the clock of an instance.
  func forget(_ instance: InstanceUUID) {
    let clock = clocks.withLock { $0.removeValue(forKey: instance) }
    clock?.forget()
  }

  /// The instances whose vendor's clock differs from the machine's by more than a minute, in no order.
  var far: Set<InstanceUUID> { farClocks.instances }
}

/// The instances whose vendor's clock differs from the machine's by more than a minute, kept as the clocks change.
final class FarClocks: Sendable {
  private let contents = Mutex<Set<InstanceUUID>>([])

  var instances: Set<InstanceUUID> { contents.withLock { $0 } }

  /// Notes whether the clock of an instance's vendor is far.
  func note(_ instance: InstanceUUID, isFar: Bool) {
    contents.withLock { if isFar { $0.insert(instance) } else { $0.remove(instance) } }
  }
}
