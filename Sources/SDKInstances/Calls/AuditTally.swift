import SDKProtocol
import Synchronization

/// A tally of frequent audit records: the first of its key is written, later ones are only counted. It is a value,
/// whose owner must synchronize access; an `Occurrences` may be counted up without that.
struct AuditTally {
  /// The key under which equal occurrences are counted together.
  struct Key: Hashable {
    var kind: AuditRecord.Kind
    var uid: UInt32
    /// The user of the uid, who has the maximum number of refusals.
    var user: UInt32
    /// The unit and the program of the caller; `nil` if occurrences are counted for the caller's user as a whole.
    /// Processes with the same values count together, so that a program that runs repeatedly does not fill the journal.
    var program: PeerProcess?
    var method: String
    var instance: String
    /// The digest of an issued credential, or the reason of a refusal; empty for calls.
    var what: String
  }

  /// The counts of a key.
  final class Occurrences: Sendable {
    /// The record of the first occurrence.
    let record: AuditRecord
    fileprivate let state: Mutex<(count: Int, lastUsed: Duration, isRemoved: Bool)>

    init(_ record: AuditRecord, at now: Duration) {
      self.record = record
      state = Mutex((0, now, false))
    }

    /// Counts an occurrence. Returns `false` if the key was removed from the tally.
    func bump(_ now: Duration) -> Bool {
      state.withLock { state in
        guard !state.isRemoved else { return false }
        state.count += 1
        state.lastUsed = now
        return true
      }
    }

    /// Returns the first occurrence's record with the number of later occurrences, and resets that number. Returns
    /// `nil` if there were none since the last call.
    fileprivate func takeCount() -> AuditRecord? {
      let count = state.withLock { state in
        defer { state.count = 0 }
        return state.count
      }
      return count > 0 ? record.counted(count) : nil
    }

    fileprivate var lastUsed: Duration { state.withLock { $0.lastUsed } }

    /// Marks the entry as removed. Returns the record with the number of occurrences not reported yet; `nil` if there
    /// are none.
    fileprivate func remove() -> AuditRecord? {
      state.withLock { $0.isRemoved = true }
      return takeCount()
    }
  }

  /// The tally's entry for the credential that a peer got last. While the peer gets the same credential, no look-up of
  /// the entry is needed.
  struct Credential: Sendable {
    var tokenId: TokenID
    var instance: InstanceID
    var entry: Occurrences
  }

  /// The maximum number of keys.
  let capacity: Int
  /// The maximum number of refusal keys of one user: callers choose the names in their calls, so they could fill the
  /// tally.
  let refusalsPerUser: Int
  /// The time without an occurrence after which a key is removed. Its next occurrence is written again.
  static let lifetime = Duration.seconds(600)

  private var entries: [Key: Occurrences] = [:]
  private var refusals: [UInt32: Int] = [:]

  init(capacity: Int = 4096, refusalsPerUser: Int = 64) {
    self.capacity = max(4, capacity)
    self.refusalsPerUser = max(1, refusalsPerUser)
  }

  /// The current number of keys.
  var count: Int { entries.count }

  /// Records an occurrence. Returns the records to emit: the first occurrence of a key, and the counts of evicted keys.
  mutating func add(_ key: Key, at now: Duration, _ record: AuditRecord) -> [AuditRecord] {
    if self[key]?.bump(now) == true { return [] }
    var key = key
    var isTooMany = false
    if key.kind == .refusal {
      if refusals[key.user, default: 0] >= refusalsPerUser {
        // Past the user's maximum, refusals are counted by reason only.
        isTooMany = true
        key = Key(kind: .refusal, uid: key.user, user: key.user, program: nil, method: "", instance: "", what: key.what)
        if self[key]?.bump(now) == true { return [] }
      }
      refusals[key.user, default: 0] += 1
    }
    let room = entries.count >= capacity ? makeRoom() : []
    var first = record
    if isTooMany { first.generalize() }
    entries[key] = Occurrences(first, at: now)
    return room + [first]
  }

  /// The entry of a key; `nil` for an unknown one.
  subscript(key: Key) -> Occurrences? { entries[key] }

  /// Returns the counts since the last flush, and removes keys that were unused for `lifetime`.
  mutating func flush(at now: Duration) -> [AuditRecord] {
    var counted: [(Duration, AuditRecord)] = []
    for (key, entry) in entries {
      let lastUsed = entry.lastUsed
      if let record = entry.takeCount() {
        counted.append((lastUsed, record))
      } else if now - lastUsed >= Self.lifetime, let record = remove(key) {
        counted.append((lastUsed, record))
      }
    }
    return counted.sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// Removes the least recently used quarter of the keys, and returns their counts so that none is lost.
  private mutating func makeRoom() -> [AuditRecord] {
    let times = entries.map { (key: $0.key, lastUsed: $0.value.lastUsed) }
    return times.sorted { $0.lastUsed < $1.lastUsed }.prefix(max(1, capacity / 4)).compactMap { remove($0.key) }
  }

  /// Removes a key. Returns its record with the number of occurrences not reported yet; `nil` if there are none.
  private mutating func remove(_ key: Key) -> AuditRecord? {
    let entry = entries.removeValue(forKey: key)
    if key.kind == .refusal, let count = refusals[key.user] { refusals[key.user] = count > 1 ? count - 1 : nil }
    return entry?.remove()
  }
}
