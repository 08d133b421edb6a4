import DequeModule

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
