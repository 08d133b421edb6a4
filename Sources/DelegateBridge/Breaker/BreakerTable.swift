import SDKProtocol
import Synchronization

/// The breakers of all keys, and the exit of each key's last run.
final class BreakerTable: Sendable {
  /// An observer of breakers that open (`true`) or close (`false`).
  typealias Observer = @Sendable (_ key: BridgeKey, _ opened: Bool) -> Void

  /// The result of a run, as far as it concerns the breaker.
  enum Outcome: Sendable, Hashable {
    /// The provider gave an answer, which the caller checks.
    case answered
    /// The provider refused or deferred the question.
    case declined
    /// The run failed.
    case failed
    /// The run does not show whether the provider works: it was cancelled, got no slot, or its program may not be run.
    case nothing

    /// Classifies a run by its result. A program that may not be run is checked again each time, so it needs no
    /// breaker.
    init(_ result: Result<BridgeAnswer, SDKError>, _ ending: ProviderEnding) {
      switch (result, ending) {
      case (_, .cancelled), (_, .notAllowed): self = .nothing
      case (.success, _): self = .answered
      case (.failure(let error), _):
        self = error.reason == .providerDenied || error.reason == .noProvider ? .declined : .failed
      }
    }

    /// Whether the run succeeded; `nil` for `nothing`.
    var isSuccess: Bool? { self == .nothing ? nil : self != .failed }
  }

  /// A breaker's permission to run. `forget` invalidates it, so that a late run leaves no trace of a deleted instance.
  struct Admission: Sendable, Hashable { fileprivate let generation: Int }

  private struct Entry: Sendable {
    let generation: Int
    var breaker = Breaker()
    var lastExit: String?
  }

  private struct Breakers: Sendable {
    var entries: [BridgeKey: Entry] = [:]
    var lastGeneration = 0
  }

  private let state = Mutex(Breakers())
  private let time: BridgeTime
  private let onChange: Observer

  init(time: BridgeTime, onChange: @escaping Observer) {
    self.time = time
    self.onChange = onChange
  }

  /// Returns the permission to begin a run.
  ///
  /// - Throws: `providerBackoff` while the breaker is open, and while another run tries a half-open one.
  func admit(_ key: BridgeKey) throws(SDKError) -> Admission {
    let now = time.uptime()
    let (generation, admission) = state.withLock { state in
      if state.entries[key] == nil { state.lastGeneration += 1 }
      var entry = state.entries[key] ?? Entry(generation: state.lastGeneration)
      let admission = entry.breaker.admit(at: now)
      state.entries[key] = entry
      return (entry.generation, admission)
    }
    switch admission {
    case .allowed: return Admission(generation: generation)
    case .refused(let retryAfter): throw .breakerOpen(retryAfter: retryAfter)
    }
  }

  /// Records that an admitted run did not take place.
  func abandon(_ key: BridgeKey, _ admission: Admission) { record(key, admission, .nothing, lastExit: nil) }

  /// Records the end of an admitted run. Does nothing if the key was forgotten since.
  func record(_ key: BridgeKey, _ admission: Admission, _ outcome: Outcome, lastExit: String?) {
    change(key) { [time] entry in
      guard entry.generation == admission.generation else { return nil }
      if let lastExit { entry.lastExit = lastExit }
      switch outcome {
      case .answered:
        entry.breaker.succeeded()
        return nil
      case .declined:
        entry.breaker.succeeded()
        return entry.breaker.accepted()
      case .failed: return entry.breaker.failed(at: time.uptime(), chance: time.chance())
      case .nothing:
        entry.breaker.abandoned(at: time.uptime())
        return nil
      }
    }
  }

  /// Closes the breaker of a key.
  func reset(_ key: BridgeKey) { change(key) { $0.breaker.reset() } }

  /// Reports that the breaker of a key has closed, because the last run's answer could be used.
  func accept(_ key: BridgeKey) { change(key) { $0.breaker.accepted() } }

  /// Counts the last run as failed, because its answer could not be used.
  func reject(_ key: BridgeKey) {
    change(key) { [time] entry in
      entry.lastExit = "output"
      return entry.breaker.rejected(at: time.uptime(), chance: time.chance())
    }
  }

  /// Discards everything that is kept for a key.
  func forget(_ key: BridgeKey) { state.withLock { $0.entries[key] = nil } }

  /// Returns the state of a key's breaker, for `Instance.Bridge`.
  func status(of key: BridgeKey) -> Instance.Bridge {
    guard let entry = state.withLock({ $0.entries[key] }) else { return Instance.Bridge(state: .closed) }
    let now = time.uptime()
    let next = entry.breaker.nextAttempt.map { time.now() + ($0 - now) / .seconds(1) }
    return Instance.Bridge(state: Self.shown(entry.breaker, at: now), nextAttemptAt: next, lastExit: entry.lastExit)
  }

  /// The number of breakers in each state.
  var counts: [Instance.Bridge.BreakerState: Int] {
    let now = time.uptime()
    return state.withLock { state in
      state.entries.values.reduce(into: [:]) { $0[Self.shown($1.breaker, at: now), default: 0] += 1 }
    }
  }

  private static func shown(_ breaker: Breaker, at now: Duration) -> Instance.Bridge.BreakerState {
    switch breaker.state {
    case .closed: .closed
    case .open(let until): until > now ? .open : .halfOpen
    case .halfOpen: .halfOpen
    }
  }

  private func change(_ key: BridgeKey, _ body: (inout Entry) -> Breaker.Change?) {
    let change = state.withLock { state -> Breaker.Change? in
      guard var entry = state.entries[key] else { return nil }
      let change = body(&entry)
      state.entries[key] = entry
      return change
    }
    if let change { onChange(key, change == .opened) }
  }
}
