import DequeModule

/// The rules that decide which runs begin, wait or are refused.
///
/// A run begins in a slot. A run that lasts frees its slot and counts as long-running instead, so that hung providers
/// never occupy the slots. Freeing a slot never fails, since a run begins only while the limit leaves room for one more
/// long-running run. The last free slot is reserved for keys whose last run succeeded.
///
/// Shares are work-conserving: an owner over its share begins another run only while no owner within its share waits
/// for a slot. Among owners over their share the one with the fewest runs is next.
struct SlotTable: Sendable {
  /// The waiting runs that begin, and those that are refused because long-running runs fill the limits.
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
  /// The instances with waiting runs, the next one first.
  private var turns: Deque<String> = []
  private var healthy: Set<BridgeKey> = []
  /// The numbers of waiting runs: of each key, of keys whose last run succeeded, and of each owner.
  private var waitingOfKey: [BridgeKey: Int] = [:]
  private var healthyWaiting = 0
  private var waitingOfOwner: [ProviderOwner: Int] = [:]
  private var runsOfOwner: [ProviderOwner: Int] = [:]
  private var longOfOwner: [ProviderOwner: Int] = [:]
  private var runsOfFiles = 0
  private var longOfFiles = 0
  private var runsOfName: [String: Int] = [:]
  private(set) var longCount = 0
  /// The number of times that `advance` looked at a waiting run.
  private(set) var looks = 0

  init(limits: SlotLimits) { self.limits = limits }

  /// The number of runs that hold a slot.
  var slotCount: Int { runs.count - longCount }
  /// The number of waiting runs.
  var waitingCount: Int { waitingOfOwner.values.reduce(0, +) }

  /// Applies other limits.
  mutating func use(_ limits: SlotLimits) -> Changes {
    self.limits = limits
    return advance()
  }

  /// Begins a run, queues it, or refuses it.
  mutating func request(_ request: SlotRequest) -> Changes {
    if isFull(for: request.owner) { return Changes(refused: [request.id]) }
    if queues[request.key.instance] == nil { turns.append(request.key.instance) }
    queues[request.key.instance, default: []].append(request)
    count(waiting: 1, request)
    return advance()
  }

  /// Removes a waiting run.
  mutating func withdraw(_ id: Int, of instance: String) {
    guard var queue = queues[instance], let place = queue.firstIndex(where: { $0.id == id }) else { return }
    count(waiting: -1, queue.remove(at: place))
    setQueue(queue, of: instance)
  }

  /// Counts a run as long-running, which frees its slot.
  mutating func markLong(_ id: Int) -> Changes {
    guard let run = runs[id], !run.isLong else { return Changes() }
    runs[id]?.isLong = true
    longCount += 1
    if run.request.owner.isFile { longOfFiles += 1 }
    longOfOwner[run.request.owner, default: 0] += 1
    return advance()
  }

  /// Removes a run that has ended.
  ///
  /// - Parameter succeeded: `nil` when the run does not show whether the provider works.
  mutating func finish(_ id: Int, succeeded: Bool?) -> Changes {
    guard let run = runs.removeValue(forKey: id) else { return Changes() }
    Self.decrement(&runsOfOwner, run.request.owner)
    Self.decrement(&runsOfName, run.request.name)
    if run.request.owner.isFile { runsOfFiles -= 1 }
    if run.isLong {
      longCount -= 1
      if run.request.owner.isFile { longOfFiles -= 1 }
      Self.decrement(&longOfOwner, run.request.owner)
    }
    switch succeeded {
    case true? where healthy.insert(run.request.key).inserted:
      healthyWaiting += waitingOfKey[run.request.key, default: 0]
    case false?: forget(run.request.key)
    case true?, nil: break
    }
    return advance()
  }

  /// Forgets the result of the key's last run.
  mutating func forget(_ key: BridgeKey) {
    if healthy.remove(key) != nil { healthyWaiting -= waitingOfKey[key, default: 0] }
  }

  private mutating func count(waiting change: Int, _ request: SlotRequest) {
    Self.add(change, to: &waitingOfKey, request.key)
    Self.add(change, to: &waitingOfOwner, request.owner)
    if healthy.contains(request.key) { healthyWaiting += change }
  }

  /// Returns whether long-running runs fill the limits that apply to the owner, so that waiting is pointless.
  private func isFull(for owner: ProviderOwner) -> Bool {
    longCount >= limits.running
      || (longOfOwner[owner, default: 0] >= limits.runningPerOwner && longCount >= limits.runningOverShare)
      || (owner.isFile && longOfFiles >= limits.runningForFiles)
  }

  private func isWithinShare(_ owner: ProviderOwner) -> Bool {
    runsOfOwner[owner, default: 0] < limits.runningPerOwner
  }

  /// Returns whether the limits of the instance and of instances from files allow another run.
  private func isAllowed(_ request: SlotRequest) -> Bool {
    runsOfName[request.name, default: 0] < max(1, request.concurrency)
      && !(request.owner.isFile && runsOfFiles >= limits.runningForFiles)
  }

  /// Returns whether a slot is free for any of the waiting runs.
  private var hasAnySlot: Bool {
    let free = limits.concurrent - slotCount
    return free > (limits.concurrent > 1 && healthyWaiting == 0 ? 1 : 0)
  }

  private func hasSlot(_ request: SlotRequest) -> Bool {
    let free = limits.concurrent - slotCount
    let kept = limits.concurrent > 1 && !healthy.contains(request.key) ? 1 : 0
    let room = isWithinShare(request.owner) ? limits.running : limits.runningOverShare
    return free > kept && runs.count < room
  }

  /// Refuses the waiting runs for which long-running runs leave no room, and begins those that may begin.
  ///
  /// Runs of owners within their share come first; instances take turns. Then come runs of owners over their share, the
  /// owner with the fewest runs first.
  private mutating func advance() -> Changes {
    var changes = Changes(refused: refuse())
    var isWaiting = false
    var passed = 0
    // Without a free slot no run begins, and with many waiting ones this is the rule.
    let hasShares = waitingOfOwner.keys.contains { isWithinShare($0) }
    while hasShares, passed < turns.count, hasAnySlot, let instance = turns.popFirst() {
      looks += 1
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

  /// Removes and returns the waiting runs for which long-running runs leave no room.
  private mutating func refuse() -> [Int] {
    guard
      longCount >= min(limits.running, limits.runningOverShare) || longOfFiles >= limits.runningForFiles
    else { return [] }
    var refused: [Int] = []
    for instance in turns {
      looks += 1
      guard let queue = queues[instance], let first = queue.first, isFull(for: first.owner) else { continue }
      for request in queue {
        refused.append(request.id)
        count(waiting: -1, request)
      }
      queues[instance] = nil
    }
    if !refused.isEmpty { turns.removeAll { queues[$0] == nil } }
    return refused
  }

  /// Returns the run to begin next among owners over their share.
  private mutating func nextOverShare() -> SlotRequest? {
    guard hasAnySlot, runs.count < limits.runningOverShare else { return nil }
    let fewest = waitingOfOwner.keys.map { runsOfOwner[$0, default: 0] }.min()
    var next: SlotRequest?
    for instance in turns {
      looks += 1
      guard let first = queues[instance]?.first, isAllowed(first), hasSlot(first) else { continue }
      let count = runsOfOwner[first.owner, default: 0]
      if count == fewest { return first }
      if next.map({ count < runsOfOwner[$0.owner, default: 0] }) ?? true { next = first }
    }
    return next
  }

  /// Begins the first waiting run of its instance and moves the instance to the end of the turns.
  private mutating func start(_ request: SlotRequest) -> Int {
    let instance = request.key.instance
    if turns.last != instance, let place = turns.firstIndex(of: instance) { turns.append(turns.remove(at: place)) }
    var queue = queues[instance] ?? []
    count(waiting: -1, queue.removeFirst())
    setQueue(queue, of: instance)
    runs[request.id] = Run(request: request)
    runsOfOwner[request.owner, default: 0] += 1
    if request.owner.isFile { runsOfFiles += 1 }
    runsOfName[request.name, default: 0] += 1
    return request.id
  }

  private mutating func setQueue(_ queue: Deque<SlotRequest>, of instance: String) {
    if queue.isEmpty {
      queues[instance] = nil
      if turns.last == instance { turns.removeLast() } else { turns.removeAll { $0 == instance } }
    } else {
      queues[instance] = queue
    }
  }

  private static func decrement<Key>(_ counts: inout [Key: Int], _ key: Key) { add(-1, to: &counts, key) }

  private static func add<Key>(_ change: Int, to counts: inout [Key: Int], _ key: Key) {
    let count = counts[key, default: 0] + change
    counts[key] = count > 0 ? count : nil
  }
}
