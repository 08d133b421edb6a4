import Glibc
import Linux
import SDKProtocol

/// The replacement of a damaged database by a backup when the state was opened.
public struct StateRepair: Sendable, Hashable {
  /// The description of the damage.
  public var damage: String
  /// The name of the file in the state directory that now holds the damaged database.
  public var setAside: String
  /// The backup that replaced the database.
  public var backup: StateBackup
  /// Whether the notes of destroyed keys in the damaged database are lost, so that backups may hold such keys.
  public var areRemovalsLost: Bool

  /// Replaces a damaged database by the newest good backup.
  ///
  /// - Throws: `corrupt` when there is no good backup; nothing is changed then. `unwritable` when the disk fails.
  static func run(
    _ replacement: StateReplacement, roots: RootKeys, damage: String, at time: Timestamp
  ) throws(StoreOpenError) -> StateRepair {
    let label = try replacement.freeLabel("corrupt-\(time.fileName)")
    let folder = BackupFolder(in: replacement.directory)
    var bad: [String] = []
    for backup in try folder.backups(at: time).prefix(BackupFolder.triedCount) {
      let staged: String
      do throws(StoreOpenError) {
        staged = try replacement.stage(
          folder.source(backup.name), label: label, roots: roots.candidates, at: backup.createdAt
        ).path
      } catch {
        // A full disk is not a fault of the backup.
        if case .unwritable = error { throw error }
        bad.append(backup.name)
        continue
      }
      // A missing database is set aside as an empty file, so that an operator notices it.
      try replacement.directory.prepareDatabaseFile()
      let areRemovalsLost = try replacement.commit(staged, label: label)
      return StateRepair(
        damage: damage, setAside: "state.db.\(label)", backup: backup, areRemovalsLost: areRemovalsLost)
    }
    throw .corrupt(bad.isEmpty ? damage : "\(damage); none of the backups \(bad.joined(separator: ", ")) opens")
  }
}
