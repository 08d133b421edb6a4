import DelegateBridge
import SDKProtocol
import Synchronization

/// The renewal schedule of the daemon.
public final class Renewals: Sendable {
  private let book = Mutex(RenewalBook())
  private let bridge: any AnsweringBridge
  private let slower = Mutex(Slower())

  /// Boxed in a struct: a closure stored directly in `Mutex` is re-abstracted on every access and grows a thunk each
  /// time.
  private struct Slower {
    var replan: (@Sendable () -> Void)?
  }

  /// Creates an empty schedule for the providers of a bridge.
  init(bridge: any AnsweringBridge) { self.bridge = bridge }

  /// Sets the function that replans all renewals when the providers have become much slower.
  func attach(_ replan: @escaping @Sendable () -> Void) { slower.withLock { $0.replan = replan } }

  /// Returns the reservation of a renewal: its former one, or a new one that replaces it.
  func place(_ request: RenewalRequest, former: RenewalPlace?, now: Timestamp) -> RenewalPlace {
    let pace = bridge.pace
    let (place, isSlower) = book.withLock { book in
      let isSlower = book.set(pace, now: now)
      return (book.place(request, former: former, now: now), isSlower)
    }
    if isSlower, let replan = slower.withLock({ $0.replan }) { replan() }
    return place
  }

  /// Releases a reservation.
  func release(_ place: RenewalPlace?) {
    guard let place else { return }
    book.withLock { $0.release(place) }
  }
}
