import Glibc
import Linux
public import SDKProtocol

/// The restoration of a backup while no daemon runs (sdkd(8)).
public struct StateRestoration: Sendable, Hashable {
  /// The source of the restored state.
  public enum Source: Sendable {
    /// The newest good backup.
    case newest
    /// The backup with this name.
    case named(String)
    /// An open database file from elsewhere.
    case file(DatabaseSource)
    /// No source: a new state begins.
    case nothing
  }

  /// The name of the restored backup or file; `nil` if a new state begins.
  public var restored: String?
  /// The time of the restored state.
  public var copiedAt: Timestamp?
  /// The path of the file that now holds the former state; `nil` if there was none.
  public var setAside: String?
  /// The names of newer backups that are damaged.
  public var damaged: [String] = []
  /// The instances of the backup whose data was destroyed in it since.
  public var losses = BackupLosses()
  /// Whether the notes of destroyed keys in the former state are lost, so that backups may hold such keys.
  public var areRemovalsLost = false

  /// The sentences for the operator about lost notes.
  public static let lostRemovals = """
    The former state's notes of destroyed keys could not be taken over, so backups may still hold such keys. Make a new \
    backup with sdkctl backup, then delete the older ones.
    """

  /// Restores a backup. The root key of the present state stays and must open the restored state, which the next
  /// opening checks.
  ///
  /// - Throws: `stateInUse` while a daemon runs; `noBackup` when there is no good backup; nothing is changed then.
  public static func run(
    directory path: String, from source: Source, at time: Timestamp = .now
  ) throws(StoreOpenError) -> StateRestoration {
    let directory = try StateDirectory(path)
    let replacement = StateReplacement(directory: directory)
    try replacement.finish()
    var result = StateRestoration()
    let label = try replacement.freeLabel("before-restore-\(time.fileName)")
    let hadState = access(directory.database, F_OK) == 0
    let staged: String
    switch source {
    case .nothing: staged = try replacement.stageNothing(label: label)
    case .file(let source):
      staged = try result.take(replacement.checked(source, label: label, at: time))
      result.restored = source.name
    case .named(let name):
      let folder = BackupFolder(in: directory)
      let backups = try folder.backups(at: time)
      guard let backup = backups.first(where: { $0.name == name }) else {
        let names = backups.map(\.name).joined(separator: ", ")
        throw .noBackup(
          "There is no backup \(name) in \(folder.path); \(names.isEmpty ? "there are none" : "there are \(names)").")
      }
      let source = try folder.source(name)
      staged = try result.take(replacement.checked(source, label: label, at: backup.createdAt))
      result.restored = name
    case .newest: staged = try newest(replacement, &result, label: label, at: time)
    }
    result.areRemovalsLost = try replacement.commit(staged, label: label)
    if hadState { result.setAside = path + "/state.db." + label }
    return result
  }

  /// Takes the facts about a staged database, and returns its path.
  private mutating func take(_ staged: (path: String, content: CopyCheck.Content)) -> String {
    (copiedAt, losses) = (staged.content.copiedAt, staged.content.losses)
    return staged.path
  }

  private static func newest(
    _ replacement: StateReplacement, _ result: inout StateRestoration, label: String, at time: Timestamp
  ) throws(StoreOpenError) -> String {
    let folder = BackupFolder(in: replacement.directory)
    for backup in try folder.backups(at: time).prefix(BackupFolder.triedCount) {
      do throws(StoreOpenError) {
        let staged = try result.take(
          replacement.checked(folder.source(backup.name), label: label, at: backup.createdAt))
        result.restored = backup.name
        return staged
      } catch {
        guard case .noBackup = error else { throw error }
        result.damaged.append(backup.name)
      }
    }
    let damaged = result.damaged.joined(separator: ", ")
    throw .noBackup(
      "There is no good backup in \(folder.path)\(damaged.isEmpty ? "" : ": \(damaged) do not open"); give a file, or begin "
        + "with nothing.")
  }
}

extension StateReplacement {
  /// Stages a database if it is good, and returns the path of the staged file and its content.
  fileprivate func checked(
    _ source: DatabaseSource, label: String, at time: Timestamp
  ) throws(StoreOpenError) -> (path: String, content: CopyCheck.Content) {
    do throws(StoreOpenError) { return try stage(source, label: label, roots: nil, at: time) } catch {
      guard case .corrupt(let what) = error else { throw error }
      throw source.refusal(what)
    }
  }
}
