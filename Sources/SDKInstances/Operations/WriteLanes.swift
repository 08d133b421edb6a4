public import SDKProtocol
import Synchronization

/// The order of writes: calls on one instance are accepted in the order in which their frames were read.
public final class WriteLanes: Sendable {
  private struct Lane {
    var places: [UInt64] = []
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
  }
  private struct State {
    var lanes: [InstanceID: Lane] = [:]
    var next: UInt64 = 0
  }
  private let state = Mutex(State())

  /// Lanes without places.
  public init() {}

  /// Takes the next place on an instance's lane. It must be released.
  public func take(_ instance: InstanceID) -> Place {
    state.withLock { state in
      state.next += 1
      state.lanes[instance, default: Lane()].places.append(state.next)
      return Place(lanes: self, instance: instance, number: state.next)
    }
  }

  /// A place on a lane.
  public struct Place: Sendable {
    fileprivate let lanes: WriteLanes
    fileprivate let instance: InstanceID
    fileprivate let number: UInt64

    /// Waits until every earlier place has been released.
    public func turn() async { await lanes.turn(self) }

    /// Lets the next one go; a second time does nothing.
    public func release() { lanes.release(self) }
  }

  private func turn(_ place: Place) async {
    await withCheckedContinuation { continuation in
      let isFirst = state.withLock { state in
        guard let lane = state.lanes[place.instance], lane.places.first != place.number,
          lane.places.contains(place.number)
        else { return true }
        state.lanes[place.instance]?.waiting[place.number] = continuation
        return false
      }
      if isFirst { continuation.resume() }
    }
  }

  private func release(_ place: Place) {
    let next: CheckedContinuation<Void, Never>? = state.withLock { state in
      guard var lane = state.lanes[place.instance] else { return nil }
      lane.places.removeAll { $0 == place.number }
      let next = lane.places.first.flatMap { lane.waiting.removeValue(forKey: $0) }
      state.lanes[place.instance] = lane.places.isEmpty ? nil : lane
      return next
    }
    next?.resume()
  }
}
