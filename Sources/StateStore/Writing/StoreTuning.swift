import SQLite

/// The limits of the writer, and a hook for tests.
struct StoreTuning: Sendable {
  /// A step of the writer at which a test can simulate a disk failure.
  enum Moment: Sendable, Equatable {
    /// A transaction with this number of changes has begun.
    case begun(changes: Int)
    /// All changes of the transaction are made, and COMMIT is next.
    case committing
    /// The write-ahead log is about to be emptied.
    case emptyingLog
    /// The database is about to be opened again.
    case reopening
    /// A backup is about to be made.
    case copying
    /// A backup is written under a temporary name, and renaming it is next.
    case copied
    /// Destroyed keys are about to be removed from the backups.
    case editingCopies
    /// They are removed from a backup, and its COMMIT is next. Several backups may be at this moment at the same time.
    case editedCopy
    /// The master key is about to be replaced.
    case rotating
    /// The master key was replaced in the state, and the backups are next.
    case rotated
  }

  /// The maximum number of changes in the queue.
  var queueLimit = 4096
  /// The maximum number of changes in one transaction.
  var batchLimit = 256
  /// The maximum number of instances whose storage is remembered as compared with its anchor.
  var comparedLimit = 65_536
  /// The first pause after a disk failure, and the longest one.
  var firstPause = Duration.milliseconds(100)
  var longestPause = Duration.seconds(5)
  /// The pause before destroyed keys are removed again from backups that could not be changed.
  var removalPause = Duration.seconds(10)
  /// The time between two retention sweeps of the whole event log.
  var sweepInterval = Duration.seconds(600)
  /// A hook for tests that is called at each `Moment`, with the database where one is open. An error that it throws is
  /// handled as a disk failure.
  var at: @Sendable (Moment, Database?) throws -> Void = { _, _ in }
}
