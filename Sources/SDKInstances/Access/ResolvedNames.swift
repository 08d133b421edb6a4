import Concurrency
import DequeModule
import Synchronization

/// A cache of the uids and gids of the names in access rules. A few threads of its own look names up: when rules take
/// effect, and again at every `refresh`. Reads never wait. A name that is not resolved has no number, so it matches no
/// peer.
public final class ResolvedNames: NameDirectory {
  /// A function that starts a thread, which runs the body and then ends.
  public typealias Start = @Sendable (_ body: @escaping @Sendable () -> Void) throws -> Void

  private struct UsedName {
    var number: UInt32?
    /// The number of the `refresh` round in which the name was last in use.
    var round: UInt64
  }

  private struct Names {
    var entries: [SystemName: UsedName] = [:]
    /// The queue of names in rules that have just taken effect.
    var fresh = NameQueue(maximumPerOwner: ResolvedNames.freshPerOwner)
    /// The queue of all names in use, which each `refresh` fills.
    var routine = NameQueue()
    var isFreshTurn = true
    var threads = 0
    var round: UInt64 = 0
    var idle: [Promise<Void>] = []

    /// Returns the next name to look up. The two queues alternate, so that neither starves the other.
    mutating func next() -> SystemName? {
      isFreshTurn.toggle()
      return isFreshTurn ? fresh.next() ?? routine.next() : routine.next() ?? fresh.next()
    }

    /// Uncounts a thread that is about to end. If it was the last one, returns the promises that `settle` waits for;
    /// otherwise none.
    mutating func endThread() -> [Promise<Void>] {
      threads -= 1
      guard threads == 0 else { return [] }
      defer { idle = [] }
      return idle
    }
  }

  /// The number of names that the instances of one user can have by default (20, with 3 × 64 rules each).
  private static let freshPerOwner = 3840
  /// The maximum number of concurrent look-ups.
  private static let threads = 4

  private let state = Mutex(Names())
  private let lookUp: @Sendable (SystemName) -> NameService.Answer
  private let start: Start

  /// Creates a cache without names.
  ///
  /// - Parameters:
  ///   - lookUp: looks a name up; may block for any time.
  ///   - start: starts a thread. When it throws, the names wait for the next request or refresh.
  public init(
    lookUp: @escaping @Sendable (SystemName) -> NameService.Answer = NameService.lookUp, start: @escaping Start
  ) {
    self.lookUp = lookUp
    self.start = start
  }

  public func uid(ofUser name: String) -> UInt32? { number(of: SystemName(.users, name)) }

  public func gid(ofGroup name: String) -> UInt32? { number(of: SystemName(.groups, name)) }

  private func number(of name: SystemName) -> UInt32? { state.withLock { $0.entries[name]?.number } }

  public func request(_ names: Set<SystemName>, for owner: UInt32) {
    guard !names.isEmpty else { return }
    state.withLock { state in
      for name in names {
        if state.entries[name] != nil {
          state.entries[name]?.round = state.round
        } else if state.fresh.add(name, for: owner) {
          state.entries[name] = UsedName(round: state.round)
        }
      }
    }
    startThreads()
  }

  /// Looks up all names in use again, and removes those that were not in use for a whole round.
  public func refresh(_ namesByOwner: [UInt32: Set<SystemName>]) {
    state.withLock { state in
      state.round += 1
      for (owner, names) in namesByOwner {
        for name in names {
          state.entries[name, default: UsedName(round: state.round)].round = state.round
          state.routine.add(name, for: owner)
        }
      }
      // A name that was requested since the names in use were collected is kept.
      state.entries = state.entries.filter { $0.value.round + 1 >= state.round }
    }
    startThreads()
  }

  /// Waits until all queued names were looked up, but at most for `time`.
  public func settle(within time: Duration) async {
    let outcome = Promise<Void>()
    let isIdle = state.withLock { state in
      if state.threads > 0 { state.idle.append(outcome) }
      return state.threads == 0
    }
    if isIdle { return }
    let alarm = Task {
      try? await Task.sleep(for: time)
      outcome.resolve(.success(()))
    }
    try? await outcome.valueIgnoringCancellation()
    alarm.cancel()
  }

  private func startThreads() {
    while state.withLock({ state in
      guard state.threads < Self.threads, !state.fresh.isEmpty || !state.routine.isEmpty else { return false }
      state.threads += 1
      return true
    }) {
      do { try start { self.run() } } catch {
        for outcome in state.withLock({ $0.endThread() }) { outcome.resolve(.success(())) }
        return
      }
    }
  }

  /// Looks up names until the queues are empty. This is the body of each thread.
  private func run() {
    while let name = next() {
      let answer = lookUp(name)
      state.withLock { state in
        switch answer {
        case .number(let number): state.entries[name]?.number = number
        case .unknown: state.entries[name]?.number = nil
        case .failed: break
        }
      }
    }
  }

  /// Returns the next name to look up. Returns `nil` if there is none; the calling thread is then uncounted and must
  /// end.
  private func next() -> SystemName? {
    let (name, idle) = state.withLock { state -> (SystemName?, [Promise<Void>]) in
      if let name = state.next() { return (name, []) }
      return (nil, state.endThread())
    }
    for outcome in idle { outcome.resolve(.success(())) }
    return name
  }
}

/// A queue of names to look up. Owners are served in rotation, so that an owner with many names does not delay the
/// others.
struct NameQueue {
  private var names: [UInt32: Deque<SystemName>] = [:]
  private var turns = Deque<UInt32>()
  private var waiting = Set<SystemName>()
  /// The number of names that an owner can have in the queue.
  let maximumPerOwner: Int

  init(maximumPerOwner: Int = .max) { self.maximumPerOwner = maximumPerOwner }

  /// Whether the queue is empty.
  var isEmpty: Bool { turns.isEmpty }

  /// Adds a name unless it is queued already.
  ///
  /// - Returns: whether the name is queued now; `false` when the owner has `maximumPerOwner` names in the queue.
  @discardableResult
  mutating func add(_ name: SystemName, for owner: UInt32) -> Bool {
    if waiting.contains(name) { return true }
    let count = names[owner]?.count ?? 0
    guard count < maximumPerOwner else { return false }
    if count == 0 { turns.append(owner) }
    names[owner, default: []].append(name)
    waiting.insert(name)
    return true
  }

  /// Removes and returns the next name, of the next owner in the rotation; `nil` when the queue is empty.
  mutating func next() -> SystemName? {
    guard let owner = turns.popFirst(), let name = names[owner]?.popFirst() else { return nil }
    if names[owner]?.isEmpty == true { names[owner] = nil } else { turns.append(owner) }
    waiting.remove(name)
    return name
  }
}
