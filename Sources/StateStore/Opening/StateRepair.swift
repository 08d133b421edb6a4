import Glibc
import SDKProtocol

/// That a damaged database was set aside and a copy put in its place when the state was opened.
public struct StateRepair: Sendable, Hashable {
  /// What was wrong with it.
  public var damage: String
  /// The file in the directory of the state that it was set aside as.
  public var setAside: String
  /// The copy that took its place.
  public var copy: StateBackup

  /// Puts the newest good copy in the place of a damaged database.
  ///
  /// - Throws: `corrupt` when there is none; nothing is changed then.
  static func run(
    _ replacement: StateReplacement, roots: RootKeys, damage: String, at time: Timestamp
  ) throws(StoreOpenError) -> StateRepair {
    let label = "corrupt-\(time.fileName)"
    let folder = BackupFolder(in: replacement.directory)
    var bad: [String] = []
    for copy in try folder.copies().prefix(BackupFolder.triedCount) {
      var staged: String?
      do throws(StoreOpenError) {
        let path = try replacement.stage(FileDescriptor(readingFile: folder.file(copy.name)), label: label)
        staged = path
        _ = try CopyCheck.check(path, roots: roots.candidates, at: copy.createdAt)
      } catch {
        if let staged { unlink(staged) }
        // A full disk is no fault of the copy's.
        if case .unwritable = error { throw error }
        bad.append(copy.name)
        continue
      }
      // What is missing is set aside as an empty file, so that somebody looks at it.
      try replacement.directory.prepareDatabaseFile()
      if let staged { try replacement.commit(staged, label: label) }
      return StateRepair(damage: damage, setAside: "state.db.\(label)", copy: copy)
    }
    throw .corrupt(bad.isEmpty ? damage : "\(damage); none of the copies \(bad.joined(separator: ", ")) opens")
  }
}
