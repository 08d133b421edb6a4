import GRDB

/// The limits of the writer, and a hook for tests.
struct StoreTuning: Sendable {
  /// A moment at which the disk may fail.
  enum Moment: Sendable, Equatable {
    /// A transaction with this number of changes has begun.
    case begun(changes: Int)
    /// All changes of the transaction are made, and COMMIT is next.
    case committing
    /// The log is about to be emptied.
    case emptyingLog
    /// The database is about to be opened again.
    case reopening
    /// A backup is about to be made.
    case copying
    /// A backup is made and has no name yet.
    case copied
    /// Destroyed keys are about to be removed from the backups.
    case editingCopies
    /// The master key is about to be replaced.
    case rotating
    /// The master key is replaced in the state, and the backups are next.
    case rotated
  }

  /// The maximum number of changes that wait.
  var queueLimit = 4096
  /// The maximum number of changes in one transaction.
  var batchLimit = 256
  /// The first pause after a disk failure, and the longest one.
  var firstPause = Duration.milliseconds(100)
  var longestPause = Duration.seconds(5)
  /// The time between two sweeps of retention through the whole log.
  var sweepInterval = Duration.seconds(600)
  /// A function that is called at each moment. An error that it throws is handled as a failure of the disk.
  var at: @Sendable (Moment, Database?) throws -> Void = { _, _ in }
}
