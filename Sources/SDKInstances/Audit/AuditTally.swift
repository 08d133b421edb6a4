import SDKProtocol

/// A tally of frequent occurrences: the first is written down, later ones are counted. A value type, guarded by its
/// owner.
struct AuditTally {
  /// The key of occurrences that are counted together.
  struct Key: Hashable {
    var kind: AuditRecord.Kind
    var uid: UInt32
    /// The unit and the program of the caller; `nil` where only its user counts. Processes with the same values count
    /// together, so that a program that runs repeatedly does not fill the journal.
    var program: PeerProcess?
    var method: String
    var instance: String
    /// A credential's digest or a refusal's reason; empty for calls.
    var what: String
  }

  private struct Entry {
    /// The record of the first occurrence.
    let record: AuditRecord
    var count = 0
    var lastUsed: Duration
  }

  /// The maximum number of keys.
  let capacity: Int
  /// The maximum number of refusal keys of one user: callers choose the names in their calls, so they could fill the
  /// tally.
  let refusalsPerUser: Int
  /// The time without use after which a key is removed. Its next occurrence is written down again.
  static let lifetime = Duration.seconds(600)

  private var entries: [Key: Entry] = [:]
  private var refusals: [UInt32: Int] = [:]

  init(capacity: Int = 4096, refusalsPerUser: Int = 64) {
    self.capacity = max(4, capacity)
    self.refusalsPerUser = max(1, refusalsPerUser)
  }

  /// The current number of keys.
  var count: Int { entries.count }

  /// Records an occurrence. Returns the records to emit: the first occurrence of a key, and the counts of evicted keys.
  mutating func add(_ key: Key, at now: Duration, _ record: AuditRecord) -> [AuditRecord] {
    if bump(key, now) { return [] }
    var key = key
    var isTooMany = false
    if key.kind == .refusal {
      if refusals[key.uid, default: 0] >= refusalsPerUser {
        // Past the user's maximum, refusals are counted by reason only.
        isTooMany = true
        key = Key(kind: .refusal, uid: key.uid, program: nil, method: "", instance: "", what: key.what)
        if bump(key, now) { return [] }
      }
      refusals[key.uid, default: 0] += 1
    }
    let room = entries.count >= capacity ? makeRoom() : []
    var first = record
    if isTooMany { first.generalize() }
    entries[key] = Entry(record: first, lastUsed: now)
    return room + [first]
  }

  /// Counts an occurrence of a known key; `false` for an unknown one.
  mutating func bump(_ key: Key, _ now: Duration) -> Bool {
    guard let index = entries.index(forKey: key) else { return false }
    entries.values[index].count += 1
    entries.values[index].lastUsed = now
    return true
  }

  /// Returns the counts since the last flush, and removes keys that were unused for `lifetime`.
  mutating func flush(at now: Duration) -> [AuditRecord] {
    var counted: [(Duration, AuditRecord)] = []
    for (key, entry) in entries {
      if entry.count > 0 {
        counted.append((entry.lastUsed, entry.record.counted(entry.count)))
        entries[key]?.count = 0
      } else if now - entry.lastUsed >= Self.lifetime {
        remove(key)
      }
    }
    return counted.sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// Removes the least recently used quarter of the keys, and returns their counts so that none is lost.
  private mutating func makeRoom() -> [AuditRecord] {
    let oldest = entries.sorted { $0.value.lastUsed < $1.value.lastUsed }.prefix(max(1, capacity / 4))
    for (key, _) in oldest { remove(key) }
    return oldest.filter { $0.value.count > 0 }.map { $0.value.record.counted($0.value.count) }
  }

  private mutating func remove(_ key: Key) {
    entries[key] = nil
    guard key.kind == .refusal, let count = refusals[key.uid] else { return }
    refusals[key.uid] = count > 1 ? count - 1 : nil
  }
}
