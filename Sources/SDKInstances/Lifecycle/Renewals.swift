import DelegateBridge
import SDKProtocol
import Synchronization

/// The renewal schedule of the daemon.
final class Renewals: Sendable {
  private let book = Mutex(RenewalBook())
  private let bridge: any AnsweringBridge
  private let replan: @Sendable () -> Void

  /// Creates an empty schedule for the providers of a bridge.
  ///
  /// - Parameter replan: replans all renewals; called when the providers have become much slower. It must be quick.
  init(bridge: any AnsweringBridge, replan: @escaping @Sendable () -> Void) {
    self.bridge = bridge
    self.replan = replan
  }

  /// Returns the reservation of a renewal: its former one, or a new one that replaces it.
  func place(_ request: RenewalRequest, former: RenewalPlace?, now: Timestamp) -> RenewalPlace {
    let pace = bridge.pace
    let (place, isSlower) = book.withLock { book in
      let isSlower = book.set(pace, now: now)
      return (book.place(request, former: former, now: now), isSlower)
    }
    if isSlower { replan() }
    return place
  }

  /// Releases a reservation.
  func release(_ place: RenewalPlace?) {
    guard let place else { return }
    book.withLock { $0.release(place) }
  }
}
