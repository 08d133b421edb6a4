import NIOCore
import Synchronization

/// A limit on open connections: a new one beyond it closes the oldest.
final class ConnectionLimit: Sendable {
  private let open = Mutex<[any Channel]>([])
  private let capacity: Int

  init(_ capacity: Int) { self.capacity = capacity }

  /// Adds a connection. Closes the oldest if there are too many.
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

  /// Closes all connections.
  func closeAll() {
    for channel in open.withLock({ $0 }) { channel.close(promise: nil) }
  }
}
