public import SDKProtocol
import Synchronization

/// The order of writes. Each instance has a lane, a queue of its writes in the order in which their requests were read.
public final class WriteLanes: Sendable {
  /// The key of a lane. Writes are ordered within each lane.
  fileprivate enum Key: Hashable {
    case instance(InstanceID)
    /// The lane of a connection, for its writes on several instances or on none.
    case session(ObjectIdentifier)
  }
  private struct Lane {
    var places: [UInt64] = []
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
  }
  private struct Lanes {
    var lanes: [Key: Lane] = [:]
    var next: UInt64 = 0
  }
  private let state = Mutex(Lanes())

  /// Creates an order without writes.
  public init() {}

  /// Adds a write to the end of an instance's lane and returns its place. The place must be released.
  public func take(_ instance: InstanceID) -> Place { take([instance], session: nil) }

  /// Adds a write to the ends of several lanes at once and returns its place. This is atomic, so two writes have the
  /// same order in all lanes. The place must be released.
  ///
  /// - Parameter session: the connection whose own lane is taken too.
  public func take(_ instances: [InstanceID], session: ObjectIdentifier?) -> Place {
    let keys = instances.map(Key.instance) + (session.map { [Key.session($0)] } ?? [])
    return state.withLock { state in
      state.next += 1
      for key in keys { state.lanes[key, default: Lane()].places.append(state.next) }
      return Place(lanes: self, keys: keys, number: state.next)
    }
  }

  /// The position of a write in one lane or several.
  public struct Place: Sendable {
    fileprivate let lanes: WriteLanes
    fileprivate let keys: [Key]
    fileprivate let number: UInt64

    /// Whether every earlier place has been released.
    public var isFirst: Bool { keys.allSatisfy { lanes.isFirst(number, $0) } }

    /// Waits until every earlier place has been released, or the task is cancelled.
    public func turn() async { for key in keys { await lanes.turn(number, key) } }

    /// Releases the place, so that the next one can proceed. A second call does nothing.
    public func release() { for key in keys { lanes.release(number, key) } }
  }

  private func isFirst(_ number: UInt64, _ key: Key) -> Bool {
    state.withLock { $0.lanes[key]?.places.first == number }
  }

  private func turn(_ number: UInt64, _ key: Key) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isFirst = state.withLock { state in
          guard let lane = state.lanes[key], lane.places.first != number, lane.places.contains(number),
            !Task.isCancelled
          else { return true }
          state.lanes[key]?.waiting[number] = continuation
          return false
        }
        if isFirst { continuation.resume() }
      }
    } onCancel: {
      // The task is marked as cancelled before this runs, so a wait that begins later sees that.
      state.withLock { $0.lanes[key]?.waiting.removeValue(forKey: number) }?.resume()
    }
  }

  private func release(_ number: UInt64, _ key: Key) {
    let next: CheckedContinuation<Void, Never>? = state.withLock { state in
      guard var lane = state.lanes[key] else { return nil }
      lane.places.removeAll { $0 == number }
      let next = lane.places.first.flatMap { lane.waiting.removeValue(forKey: $0) }
      state.lanes[key] = lane.places.isEmpty ? nil : lane
      return next
    }
    next?.resume()
  }
}
