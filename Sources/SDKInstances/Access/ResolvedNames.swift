import Concurrency
import DequeModule
import Synchronization

/// A cache of the uids and gids of the names in access rules, and of the owners of subordinate uids. A few threads of
/// its own look names up: when rules take effect, and again at every `refresh`. Reads never wait. A name that is not
/// resolved has no number, so it matches no peer.
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
    var subordinates = SubordinateUids()
    /// Whether the file of the subordinate uids is to be read.
    var isFileDue = false
    /// The number of names whose number has changed since the observer was called.
    var changed = 0
    var observer: @Sendable () -> Void = {}

    var hasWork: Bool { isFileDue || !fresh.isEmpty || !routine.isEmpty }

    /// Returns the next work. The two queues of names alternate, so that neither starves the other.
    mutating func next() -> LookUp? {
      if isFileDue {
        isFileDue = false
        return .file
      }
      isFreshTurn.toggle()
      return (isFreshTurn ? fresh.next() ?? routine.next() : routine.next() ?? fresh.next()).map(LookUp.name)
    }

    /// Whether the observer is due: no more names are waiting, or many have changed. Its call is then counted as made.
    mutating func takeChanges() -> (@Sendable () -> Void)? {
      guard changed > 0, !hasWork || changed >= ResolvedNames.changesAtOnce else { return nil }
      changed = 0
      return observer
    }

    /// Marks names as used, and queues those that are not known. Returns whether any was queued.
    mutating func note(_ names: Set<SystemName>, for owner: UInt32) -> Bool {
      var isNew = false
      for name in names {
        if let entry = entries[name] {
          // A uid without account is looked up again some time.
          if name.database != .uids || entry.number != nil { entries[name]?.round = round }
        } else if fresh.add(name, for: owner) {
          entries[name] = UsedName(round: round)
          isNew = true
        }
      }
      return isNew
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

  /// A look-up of a thread.
  private enum LookUp {
    case name(SystemName)
    /// Reading the file of the subordinate uids.
    case file
  }

  /// The number of names that the instances of one user can have by default (20, with 3 × 64 rules each).
  private static let freshPerOwner = 3840
  /// The maximum number of concurrent look-ups.
  private static let threads = 4
  /// The number of changes after which the observer is called although more names are waiting.
  private static let changesAtOnce = 256
  /// The maximum number of cached names, above which no subordinate uid is looked up any more.
  private static let maximumForUids = 65_536

  private let state = Mutex(Names())
  private let lookUp: @Sendable (SystemName) -> NameService.Answer
  private let start: Start
  private let readSubordinates: @Sendable () -> [UInt8]?

  /// Creates a cache without names.
  ///
  /// - Parameters:
  ///   - readSubordinates: reads the file of the subordinate uids: at once, and on a thread at each `refresh`; `nil` if
  ///     it can't be read, and then the ranges stay.
  ///   - lookUp: looks a name up; may block for any time.
  ///   - start: starts a thread. When it throws, the names wait for the next request or refresh.
  public init(
    readSubordinates: @escaping @Sendable () -> [UInt8]? = { [] },
    lookUp: @escaping @Sendable (SystemName) -> NameService.Answer = NameService.lookUp, start: @escaping Start
  ) {
    self.readSubordinates = readSubordinates
    self.lookUp = lookUp
    self.start = start
    if let text = readSubordinates() { state.withLock { $0.subordinates = SubordinateUids(text) } }
  }

  public func uid(ofUser name: String) -> UInt32? { number(of: SystemName(.users, name)) }

  public func gid(ofGroup name: String) -> UInt32? { number(of: SystemName(.groups, name)) }

  private func number(of name: SystemName) -> UInt32? { state.withLock { $0.entries[name]?.number } }

  /// Returns the user that a uid counts for. A subordinate uid counts for the owner of its range, unless it has an
  /// account of its own. Both are looked up at the first call; until then it counts for the first uid of its range, like
  /// every other uid of the range.
  public func user(of uid: UInt32) -> UInt32 {
    guard uid != 0 else { return uid }
    let (user, isNew) = state.withLock { state -> (UInt32, Bool) in
      guard let range = state.subordinates.range(of: uid) else { return (uid, false) }
      var unknown = Set([SystemName(.uids, "\(uid)")])
      var owner: UInt32?
      switch range.owner {
      case .uid(let known): owner = known
      case .name(let text):
        let name = SystemName(.users, text)
        owner = state.entries[name]?.number
        unknown.insert(name)
      }
      if state.entries[SystemName(.uids, "\(uid)")]?.number != nil { return (uid, false) }
      let isNew = state.entries.count < Self.maximumForUids && state.note(unknown, for: owner ?? range.first)
      return (owner ?? range.first, isNew)
    }
    if isNew { startThreads() }
    return user
  }

  public func observe(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.observer = observer } }

  public func request(_ names: Set<SystemName>, for owner: UInt32) {
    guard !names.isEmpty else { return }
    _ = state.withLock { $0.note(names, for: owner) }
    startThreads()
  }

  /// Looks up all names in use again, and removes those that were not in use for a whole round. Also reads the file of
  /// the subordinate uids again.
  public func refresh(_ namesByOwner: [UInt32: Set<SystemName>]) {
    state.withLock { state in
      state.round += 1
      state.isFileDue = true
      for (owner, names) in namesByOwner {
        for name in names {
          state.entries[name, default: UsedName(round: state.round)].round = state.round
          state.routine.add(name, for: owner)
        }
      }
      // A name that was requested since the names in use were collected is kept.
      state.entries = state.entries.filter { $0.value.round + 1 >= state.round }
      // Those of subordinate uids, which are in no rule.
      for (name, entry) in state.entries where entry.round < state.round && entry.number != nil {
        state.routine.add(name, for: 0)
      }
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
      guard state.threads < Self.threads, state.hasWork else { return false }
      state.threads += 1
      return true
    }) {
      do { try start { self.run() } } catch {
        for outcome in state.withLock({ $0.endThread() }) { outcome.resolve(.success(())) }
        return
      }
    }
  }

  /// Works until nothing is queued. This is the body of each thread.
  private func run() {
    while let work = next() {
      switch work {
      case .name(let name): resolve(name)
      case .file: readFile()
      }
      state.withLock { $0.takeChanges() }?()
    }
  }

  private func resolve(_ name: SystemName) {
    let answer = lookUp(name)
    state.withLock { state in
      let former = state.entries[name]?.number
      switch answer {
      case .number(let number): state.entries[name]?.number = number
      case .unknown: state.entries[name]?.number = nil
      case .failed: break
      }
      if state.entries[name]?.number != former { state.changed += 1 }
    }
  }

  private func readFile() {
    guard let text = readSubordinates() else { return }
    let read = SubordinateUids(text)
    state.withLock { $0.subordinates = read }
  }

  /// Returns the next work. Returns `nil` if there is none; the calling thread is then uncounted and must end.
  private func next() -> LookUp? {
    let (work, idle) = state.withLock { state -> (LookUp?, [Promise<Void>]) in
      if let work = state.next() { return (work, []) }
      return (nil, state.endThread())
    }
    for outcome in idle { outcome.resolve(.success(())) }
    return work
  }
}
