import Concurrency
import NIOCore
import SDKInstances
import Synchronization

/// Blocking look-ups on separate threads. A key is looked up by one thread at a time, and its value is shared and kept
/// for a short time. A look-up that hangs occupies one thread, and otherwise delays only callers that need the same
/// key.
final class SharedLookups<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry {
    var known: Value?
    var until = NIODeadline.uptimeNanoseconds(0)
    /// The callers that wait for the look-up under way; `nil` when there is none.
    var waiting: [Turn<Value>]?
  }

  private let entries = Mutex<[Key: Entry]>([:])
  private let pool: BlockingPool
  private let lifetime: TimeAmount
  private let capacity: Int
  private let find: @Sendable (Key, Value?) -> Result<Value, HTTPFailure>

  /// Creates look-ups that keep up to `capacity` values for `lifetime`.
  ///
  /// - Parameter find: looks a key up, and may block. It gets the value that was found last, if it is still kept.
  init(
    pool: BlockingPool, lifetime: TimeAmount, capacity: Int,
    find: @escaping @Sendable (Key, Value?) -> Result<Value, HTTPFailure>
  ) {
    self.pool = pool
    self.lifetime = lifetime
    self.capacity = capacity
    self.find = find
  }

  /// Returns the value of a key, from memory if it was found within `lifetime`.
  ///
  /// - Throws: the failure of the look-up; `timeout`.
  func value(of key: Key, timeout: TimeAmount, on loop: any EventLoop) async throws(HTTPFailure) -> Value {
    let turn = Turn<Value>()
    join(key, turn)
    let timer = loop.scheduleTask(in: timeout) { _ = turn.resolve(.failure(.timeout)) }
    defer { timer.cancel() }
    return try await turn.outcome().get()
  }

  private func join(_ key: Key, _ turn: Turn<Value>) {
    let (known, former, isFirst) = entries.withLock { entries -> (Value?, Value?, Bool) in
      var entry = entries[key] ?? Entry()
      if let known = entry.known, entry.until > .now() { return (known, nil, false) }
      if let waiting = entry.waiting {
        entry.waiting = waiting.filter { !$0.isOver } + [turn]
        entries[key] = entry
        return (nil, nil, false)
      }
      if entries.count >= capacity { entries = entries.filter { $0.value.waiting != nil } }
      entry.waiting = [turn]
      entries[key] = entry
      return (nil, entry.known, true)
    }
    if let known { turn.resolve(.success(known)) }
    guard isFirst else { return }
    pool.submit { refused in
      self.finish(key, refused == nil ? self.find(key, former) : .failure(.network("no thread can be started")))
    }
  }

  private func finish(_ key: Key, _ found: Result<Value, HTTPFailure>) {
    let waiting = entries.withLock { entries -> [Turn<Value>] in
      let waiting = entries[key]?.waiting ?? []
      entries[key] = (try? found.get()).map { Entry(known: $0, until: .now() + lifetime) }
      return waiting
    }
    for turn in waiting { turn.resolve(found) }
  }
}
