import DequeModule

/// Decides which runs begin, which wait and which are refused.
///
/// A run begins in a slot. One that lasts gives the slot back and counts as long-running instead, so that hung providers
/// never hold the slots. That giving back never fails: a run begins only while the daemon has room for one more
/// long-running one. The last free slot is kept for instances whose last run succeeded.
///
/// Shares are work-conserving: an owner over its share begins another run only while no owner within its share waits for
/// a slot. Among owners over their share the one with the fewest runs is next.
struct SlotTable: Sendable {
  /// Which waiting runs may begin, and which need not wait any longer because the room is full of long ones.
  struct Changes: Sendable, Equatable {
    var started: [Int] = []
    var refused: [Int] = []
  }

  private struct Run: Sendable {
    let request: SlotRequest
    var isLong = false
  }

  private var limits: SlotLimits
  private var runs: [Int: Run] = [:]
  private var queues: [String: Deque<SlotRequest>] = [:]
  /// The instances that have waiting runs, next turn first.
  private var turns: Deque<String> = []
  private var healthy: Set<BridgeKey> = []
  private var runsOfOwner: [ProviderOwner: Int] = [:]
  private var longOfOwner: [ProviderOwner: Int] = [:]
  private var runsOfFiles = 0
  private var longOfFiles = 0
  private var runsOfInstance: [String: Int] = [:]
  private(set) var longCount = 0

  init(limits: SlotLimits) { self.limits = limits }

  /// Runs that hold a slot.
  var slotCount: Int { runs.count - longCount }
  /// Runs that wait.
  var waitingCount: Int { queues.values.reduce(0) { $0 + $1.count } }

  /// Puts other limits in force.
  mutating func use(_ limits: SlotLimits) -> Changes {
    self.limits = limits
    return advance()
  }

  /// Begins a run, lets it wait, or refuses it.
  mutating func request(_ request: SlotRequest) -> Changes {
    if isFull(for: request.owner) { return Changes(refused: [request.id]) }
    if queues[request.key.instance] == nil { turns.append(request.key.instance) }
    queues[request.key.instance, default: []].append(request)
    return advance()
  }

  /// A waiting run is no longer wanted.
  mutating func withdraw(_ id: Int, of instance: String) {
    guard var queue = queues[instance] else { return }
    queue.removeAll { $0.id == id }
    setQueue(queue, of: instance)
  }

  /// A run has lasted: it gives its slot back.
  mutating func markLong(_ id: Int) -> Changes {
    guard let run = runs[id], !run.isLong else { return Changes() }
    runs[id]?.isLong = true
    longCount += 1
    if run.request.owner.isFile { longOfFiles += 1 }
    longOfOwner[run.request.owner, default: 0] += 1
    return advance()
  }

  /// A run has ended.
  ///
  /// - Parameter succeeded: `nil` when its end says nothing about the provider.
  mutating func finish(_ id: Int, succeeded: Bool?) -> Changes {
    guard let run = runs.removeValue(forKey: id) else { return Changes() }
    Self.decrement(&runsOfOwner, run.request.owner)
    Self.decrement(&runsOfInstance, run.request.key.instance)
    if run.request.owner.isFile { runsOfFiles -= 1 }
    if run.isLong {
      longCount -= 1
      if run.request.owner.isFile { longOfFiles -= 1 }
      Self.decrement(&longOfOwner, run.request.owner)
    }
    switch succeeded {
    case true?: healthy.insert(run.request.key)
    case false?: healthy.remove(run.request.key)
    case nil: break
    }
    return advance()
  }

  /// Forgets how the last run went.
  mutating func forget(_ key: BridgeKey) { healthy.remove(key) }

  /// Whether long-running runs fill all the room that the owner may have, so that waiting is of no use.
  private func isFull(for owner: ProviderOwner) -> Bool {
    longCount >= limits.running
      || (longOfOwner[owner, default: 0] >= limits.runningPerOwner && longCount >= limits.runningOverShare)
      || (owner.isFile && longOfFiles >= limits.runningForFiles)
  }

  private func isWithinShare(_ owner: ProviderOwner) -> Bool {
    runsOfOwner[owner, default: 0] < limits.runningPerOwner
  }

  /// Whether neither the instance's own runs nor those of files are in the way of a run.
  private func isAllowed(_ request: SlotRequest) -> Bool {
    runsOfInstance[request.key.instance, default: 0] < max(1, request.concurrency)
      && !(request.owner.isFile && runsOfFiles >= limits.runningForFiles)
  }

  private func hasSlot(_ request: SlotRequest) -> Bool {
    let free = limits.concurrent - slotCount
    let kept = limits.concurrent > 1 && !healthy.contains(request.key) ? 1 : 0
    let room = isWithinShare(request.owner) ? limits.running : limits.runningOverShare
    return free > kept && runs.count < room
  }

  /// Refuses what need not wait, and begins runs: first those of owners within their share, in turn between instances,
  /// then those of owners over it.
  private mutating func advance() -> Changes {
    var changes = Changes()
    for instance in turns {
      guard let queue = queues[instance], let first = queue.first, isFull(for: first.owner) else { continue }
      changes.refused += queue.map(\.id)
      queues[instance] = nil
    }
    if !changes.refused.isEmpty { turns.removeAll { queues[$0] == nil } }
    var isWaiting = false
    var passed = 0
    while passed < turns.count, let instance = turns.popFirst() {
      turns.append(instance)
      guard let first = queues[instance]?.first, isWithinShare(first.owner), isAllowed(first), hasSlot(first) else {
        isWaiting = isWaiting || queues[instance]?.first.map { isWithinShare($0.owner) && isAllowed($0) } ?? false
        passed += 1
        continue
      }
      (passed, isWaiting) = (0, false)
      changes.started.append(start(first))
    }
    while !isWaiting, let first = nextOverShare() { changes.started.append(start(first)) }
    return changes
  }

  /// The run to begin next of those whose owners are over their share.
  private func nextOverShare() -> SlotRequest? {
    guard slotCount < limits.concurrent, runs.count < limits.runningOverShare else { return nil }
    let candidates = turns.lazy.compactMap { queues[$0]?.first }.filter { isAllowed($0) && hasSlot($0) }
    return candidates.min { runsOfOwner[$0.owner, default: 0] < runsOfOwner[$1.owner, default: 0] }
  }

  /// Begins the first waiting run of its instance, whose next turn is the last.
  private mutating func start(_ request: SlotRequest) -> Int {
    let instance = request.key.instance
    if turns.last != instance, let place = turns.firstIndex(of: instance) { turns.append(turns.remove(at: place)) }
    var queue = queues[instance] ?? []
    queue.removeFirst()
    setQueue(queue, of: instance)
    runs[request.id] = Run(request: request)
    runsOfOwner[request.owner, default: 0] += 1
    if request.owner.isFile { runsOfFiles += 1 }
    runsOfInstance[request.key.instance, default: 0] += 1
    return request.id
  }

  private mutating func setQueue(_ queue: Deque<SlotRequest>, of instance: String) {
    if queue.isEmpty {
      queues[instance] = nil
      turns.removeAll { $0 == instance }
    } else {
      queues[instance] = queue
    }
  }

  private static func decrement<Key>(_ counts: inout [Key: Int], _ key: Key) {
    let count = counts[key, default: 0] - 1
    counts[key] = count > 0 ? count : nil
  }
}
