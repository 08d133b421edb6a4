import GRDB
import Glibc
import Linux
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The replacement of the database by another one. The former database is set aside and never deleted.
///
/// The new database is staged completely, under a name that contains the label of the former one. The next opening
/// finishes or reverts a replacement that a crash has interrupted.
struct StateReplacement {
  private static let stage = "state.db.restoring."
  private static let asides = ["state.db.corrupt-", "state.db.before-restore-"]
  private static let endings = ["-wal", "-shm"]

  let directory: StateDirectory

  /// Finishes or reverts a replacement that a crash has interrupted.
  func finish() throws(StoreOpenError) {
    for name in try names() where name.hasPrefix(Self.stage) {
      let staged = directory.path + "/" + name
      // Deletes SQLite's own files beside a staged database, and the staged one if the present one was not moved yet.
      if name.hasSuffix("-journal") || name.hasSuffix("-wal") || name.hasSuffix("-shm")
        || Self.exists(directory.database)
      {
        unlink(staged)
      } else {
        try moveIn(staged, label: String(name.dropFirst(Self.stage.count)))
      }
    }
  }

  /// Returns a label for the database that is set aside next: `label`, with a number if a file has it already.
  func freeLabel(_ label: String) throws(StoreOpenError) -> String {
    let taken = Set(try names())
    let prefixes: [String] = ["state.db.", Self.stage]
    func isTaken(_ label: String) -> Bool {
      prefixes.contains { prefix in ([""] + Self.endings).contains { taken.contains(prefix + label + $0) } }
    }
    var free = label
    var number = 2
    while isTaken(free) {
      free = "\(label)-\(number)"
      number += 1
    }
    return free
  }

  /// Copies a database into a staged file for `commit`, with the files beside it that hold a part of its content.
  /// `CopyCheck` applies those to the staged file and removes them.
  func stage(_ source: DatabaseSource, label: String) throws(StoreOpenError) -> String {
    let staged = directory.path + "/" + Self.stage + label
    discard(staged)
    do throws(StoreOpenError) {
      try copy(source.file, to: staged)
      for part in source.parts { try copy(part.file, to: staged + part.ending) }
    } catch {
      discard(staged)
      throw error
    }
    return staged
  }

  /// Removes a staged file, and SQLite's files beside it.
  func discard(_ staged: String) {
    for ending in BackupFolder.endings { unlink(staged + ending) }
  }

  private func copy(_ source: OwnedDescriptor, to path: String) throws(StoreOpenError) {
    let file = try OwnedDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
    var offset = 0
    while let bytes = source.read(1 << 20, at: offset) {
      try file.write(bytes, path: path)
      offset += bytes.count
    }
    if fsync(file.raw) != 0 { throw .unwritable(path: path) }
  }

  /// Stages a database without tables that is marked as the intended beginning of a new state.
  func stageNothing(label: String) throws(StoreOpenError) -> String {
    let staged = directory.path + "/" + Self.stage + label
    unlink(staged)
    _ = try OwnedDescriptor(opening: staged, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
    do {
      let connection = try StoreConnection.copy(at: staged)
      try connection.writeWithoutTransaction { db in try StoreSchema.beginAnew(db) }
      try connection.close()
    } catch {
      unlink(staged)
      throw .unwritable("\(staged): \(StoreFailure.text(error))")
    }
    return staged
  }

  /// Sets the present database aside as `state.db.LABEL` and moves the staged one into its place.
  func commit(_ staged: String, label: String) throws(StoreOpenError) {
    try directory.synchronize()
    let aside = directory.database + "." + label
    if Self.exists(directory.database), rename(directory.database, aside) != 0 {
      let why = SystemCallError.text(of: errno)
      unlink(staged)
      throw .unwritable("\(directory.database): \(why)")
    }
    try moveIn(staged, label: label)
  }

  private func moveIn(_ staged: String, label: String) throws(StoreOpenError) {
    let database = directory.database
    for ending in Self.endings
    where rename(database + ending, "\(database).\(label)\(ending)") != 0 && errno != ENOENT {
      throw .unwritable("\(database)\(ending): \(SystemCallError.text(of: errno))")
    }
    if rename(staged, database) != 0 { throw .unwritable(path: staged) }
    try directory.synchronize()
  }

  private static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  private func names() throws(StoreOpenError) -> [String] {
    do { return try FileManager.default.contentsOfDirectory(atPath: directory.path) } catch {
      throw .unwritable("\(directory.path) can't be read")
    }
  }

  /// Returns the names of the databases in a directory that were set aside, sorted.
  static func asides(in directory: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.filter { name in
      asides.contains { name.hasPrefix($0) } && !endings.contains { name.hasSuffix($0) }
    }.sorted()
  }
}
