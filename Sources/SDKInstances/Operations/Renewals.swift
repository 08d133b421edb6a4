import DelegateBridge
import SDKProtocol
import Synchronization

/// The one book of renewals of the daemon.
public final class Renewals: Sendable {
  private let book = Mutex(RenewalBook())
  private let bridge: any AnsweringBridge
  private let slower = Mutex(Slower())

  /// A function in a type of its own: taken out of a mutex that holds nothing else, it goes back wrapped each time, and each
  /// call would run through one wrapper more.
  private struct Slower {
    var replan: (@Sendable () -> Void)?
  }

  /// An empty book for the providers of this bridge.
  init(bridge: any AnsweringBridge) { self.bridge = bridge }

  /// Who sees to it that all ask for a place anew when the providers have become much slower.
  func attach(_ replan: @escaping @Sendable () -> Void) { slower.withLock { $0.replan = replan } }

  /// The place of a renewal: the one that it has, or a new one in its stead.
  func place(_ request: RenewalRequest, former: RenewalPlace?, now: Timestamp) -> RenewalPlace {
    let pace = bridge.pace
    let (place, isSlower) = book.withLock { book in
      let isSlower = book.set(pace, now: now)
      return (book.place(request, former: former, now: now), isSlower)
    }
    if isSlower, let replan = slower.withLock({ $0.replan }) { replan() }
    return place
  }

  /// The place is free again.
  func release(_ place: RenewalPlace?) {
    guard let place else { return }
    book.withLock { $0.release(place) }
  }
}
