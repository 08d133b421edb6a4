/// The destroyed keys that backups may still contain.
///
/// Only the writer's queue uses this value.
struct OpenRemovals {
  private var noted: [Removal.Key: (removal: Removal, number: UInt64)] = [:]
  private var settled: [Removal.Key] = []
  private var count: UInt64 = 0

  /// Creates the value with the keys that were destroyed before a restart.
  init(_ removals: [Removal]) { note(removals) }

  /// Whether the backups have no destroyed key.
  var isEmpty: Bool { noted.isEmpty }

  /// Adds keys that were destroyed just now. A key that is there already is to be removed once more.
  mutating func note(_ removals: [Removal]) {
    count += 1
    for removal in removals { noted[removal.key] = (removal, count) }
  }

  /// The removals to make, and the number of the last transaction that noted one of them.
  var all: (removals: [Removal], number: UInt64) { (noted.values.map(\.removal), count) }

  /// Ends the removals of `all`, because the backups have none of their keys any more.
  mutating func end(upTo number: UInt64) {
    let ended = noted.filter { $0.value.number <= number }.map(\.key)
    for key in ended { noted[key] = nil }
    settled += ended
  }

  /// Returns the ended removals whose notes in the database are to be deleted, each once.
  mutating func takeEnded() -> [Removal.Key] {
    defer { settled = [] }
    return settled
  }
}
