import DequeModule

/// Names that wait to be looked up. Owners take turns, so that one owner's many names delay nobody else's few.
struct NameQueue {
  private var names: [UInt32: Deque<SystemName>] = [:]
  private var turns = Deque<UInt32>()
  private var waiting = Set<SystemName>()
  /// The number of names that an owner can have in the queue.
  let maximumPerOwner: Int

  init(maximumPerOwner: Int = .max) { self.maximumPerOwner = maximumPerOwner }

  /// Whether no name waits.
  var isEmpty: Bool { turns.isEmpty }

  /// Adds a name unless it waits already.
  ///
  /// - Returns: whether the name waits now; `false` when the owner has too many.
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

  /// Removes and returns the next name, of the owner whose turn it is.
  mutating func next() -> SystemName? {
    guard let owner = turns.popFirst(), let name = names[owner]?.popFirst() else { return nil }
    if names[owner]?.isEmpty == true { names[owner] = nil } else { turns.append(owner) }
    waiting.remove(name)
    return name
  }
}
