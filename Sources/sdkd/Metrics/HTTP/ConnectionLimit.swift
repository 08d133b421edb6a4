import NIOCore
import Synchronization

/// Keeps connections at a number: for a new one past it the oldest is closed.
final class ConnectionLimit: Sendable {
  private let open = Mutex<[any Channel]>([])
  private let capacity: Int

  init(_ capacity: Int) { self.capacity = capacity }

  /// Takes a connection.
  func admit(_ channel: any Channel) {
    let oldest = open.withLock { open -> (any Channel)? in
      open.append(channel)
      return open.count > capacity ? open.removeFirst() : nil
    }
    oldest?.close(promise: nil)
    channel.closeFuture.whenComplete { [weak self] _ in
      self?.open.withLock { open in open.removeAll { $0 === channel } }
    }
  }

  /// Ends all of them.
  func closeAll() {
    for channel in open.withLock({ $0 }) { channel.close(promise: nil) }
  }
}
