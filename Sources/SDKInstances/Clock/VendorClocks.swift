import StateStore
import Synchronization

/// The vendors' clocks, one for each instance: two instances may have different vendors.
final class VendorClocks: Sendable {
  private let clocks = Mutex<[InstanceUUID: VendorClock]>([:])
  private let ours: WallClock

  init(_ ours: WallClock) { self.ours = ours }

  /// The clock of an instance's vendor.
  func clock(of instance: InstanceUUID) -> VendorClock {
    clocks.withLock { clocks in
      if let known = clocks[instance] { return known }
      let clock = VendorClock(ours)
      clocks[instance] = clock
      return clock
    }
  }

  /// The instance is gone.
  func forget(_ instance: InstanceUUID) { clocks.withLock { $0[instance] = nil } }
}
