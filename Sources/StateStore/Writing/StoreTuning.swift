import GRDB

/// Bounds of the writer, and where tests reach into it.
struct StoreTuning: Sendable {
  /// A place where a disk may fail.
  enum Moment: Sendable, Equatable {
    /// A transaction with so many changes has begun.
    case begun(changes: Int)
    /// All of its changes are made; COMMIT is next.
    case committing
    /// The log is about to be emptied.
    case emptyingLog
    /// The database is about to be opened again.
    case reopening
    /// A copy is about to be made.
    case copying
    /// A copy is made and has no name yet.
    case copied
    /// Copies are about to lose keys that were destroyed.
    case editingCopies
    /// The master key is about to be replaced.
    case rotating
    /// It is replaced here; the copies are next.
    case rotated
  }

  /// How many changes may wait.
  var queueLimit = 4096
  /// How many share a transaction.
  var batchLimit = 256
  /// How long to leave a failed disk alone at first, and at most.
  var firstPause = Duration.milliseconds(100)
  var longestPause = Duration.seconds(5)
  /// How long between two sweeps of retention through the whole log.
  var sweepInterval = Duration.seconds(600)
  /// Called at each moment; what it throws is what the disk would have said.
  var at: @Sendable (Moment, Database?) throws -> Void = { _, _ in }
}
