import Synchronization

/// What is done after a reply.
final class FollowUps: Sendable {
  private let work = Mutex<[@Sendable () async -> Void]>([])

  func add(_ item: @escaping @Sendable () async -> Void) { work.withLock { $0.append(item) } }

  func take() -> [@Sendable () async -> Void] {
    work.withLock { items in
      defer { items = [] }
      return items
    }
  }
}
