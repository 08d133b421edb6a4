import FoundationEssentials
import Glibc
import Linux
import SDKProtocol
import SQLite

/// The replacement of the database by another one. The former database is set aside and never deleted.
///
/// The new database is staged completely and checked, under names that contain the label of the former one. The next
/// opening finishes or reverts a replacement that a crash has interrupted. It removes a database that was not checked.
struct StateReplacement {
  /// The beginning of the name of a staged database that was not checked yet.
  private static let unchecked = "state.db.staging."
  /// The beginning of the name of a staged database that may become the state.
  private static let checked = "state.db.restoring."
  private static let asides = ["state.db.corrupt-", "state.db.before-restore-"]
  private static let endings = ["-journal", "-wal", "-shm"]

  let directory: StateDirectory

  /// Finishes or reverts a replacement that a crash has interrupted.
  func finish() throws(StoreOpenError) {
    for name in try names() {
      let staged = directory.path + "/" + name
      if name.hasPrefix(Self.unchecked) {
        unlink(staged)
      } else if name.hasPrefix(Self.checked) {
        // Deletes SQLite's own files beside a staged database, and the staged one if the present one was not moved yet.
        if Self.endings.contains(where: { name.hasSuffix($0) }) || Self.exists(directory.database) {
          unlink(staged)
        } else {
          try moveIn(staged, label: String(name.dropFirst(Self.checked.count)))
        }
      }
    }
  }

  /// Returns a label for the database that is set aside next: `label`, with a number if a file has it already.
  func freeLabel(_ label: String) throws(StoreOpenError) -> String {
    let taken = Set(try names())
    let prefixes: [String] = ["state.db.", Self.unchecked, Self.checked]
    func isTaken(_ label: String) -> Bool {
      prefixes.contains { prefix in BackupFolder.endings.contains { taken.contains(prefix + label + $0) } }
    }
    var free = label
    var number = 2
    while isTaken(free) {
      free = "\(label)-\(number)"
      number += 1
    }
    return free
  }

  /// Stages a database for `commit` if it is good. Returns the path of the staged file and its content.
  ///
  /// - Parameters:
  ///   - roots: the root keys, one of which must open the database; `nil` if they are not known.
  ///   - time: the time of the state, used if the database does not contain it.
  func stage(
    _ source: DatabaseSource, label: String, roots: [RootKey]?, at time: Timestamp
  ) throws(StoreOpenError) -> (path: String, content: CopyCheck.Content) {
    let unchecked = try copy(source, label: label)
    do throws(StoreOpenError) {
      let content = try CopyCheck.check(unchecked, roots: roots, at: time)
      return (try accept(unchecked, label: label), content)
    } catch {
      discard(unchecked)
      throw error
    }
  }

  /// Copies a database into a staged file that was not checked yet, with the files beside it that hold a part of its
  /// content. `CopyCheck` applies those to the staged file and removes them.
  func copy(_ source: DatabaseSource, label: String) throws(StoreOpenError) -> String {
    let unchecked = directory.path + "/" + Self.unchecked + label
    discard(unchecked)
    do throws(StoreOpenError) {
      try copy(source.file, of: source, to: unchecked)
      for part in source.parts { try copy(part.file, of: source, to: unchecked + part.ending) }
    } catch {
      discard(unchecked)
      throw error
    }
    return unchecked
  }

  private func copy(_ original: OwnedDescriptor, of source: DatabaseSource, to path: String) throws(StoreOpenError) {
    let size = try original.size(path: source.name)
    let file = try OwnedDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
    var offset = 0
    while let bytes = original.read(1 << 20, at: offset) {
      try file.write(bytes, path: path)
      offset += bytes.count
    }
    guard offset >= size else { throw source.refusal("only \(offset) of \(size) bytes can be read") }
    if fsync(file.raw) != 0 { throw .unwritable(path: path) }
  }

  /// Renames a staged database that was checked, so that the next opening uses it if `commit` is interrupted.
  private func accept(_ unchecked: String, label: String) throws(StoreOpenError) -> String {
    let staged = directory.path + "/" + Self.checked + label
    if rename(unchecked, staged) != 0 { throw .unwritable(path: unchecked) }
    return staged
  }

  /// Removes a staged file, and SQLite's files beside it.
  private func discard(_ staged: String) {
    for ending in BackupFolder.endings { unlink(staged + ending) }
  }

  /// Stages a database without tables that is marked as the intended beginning of a new state.
  func stageNothing(label: String) throws(StoreOpenError) -> String {
    let unchecked = directory.path + "/" + Self.unchecked + label
    discard(unchecked)
    _ = try OwnedDescriptor(opening: unchecked, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
    do {
      let connection = try StoreConnection.copy(at: unchecked)
      try connection.writeWithoutTransaction { db in try StoreSchema.beginAnew(db) }
      try connection.close()
    } catch {
      discard(unchecked)
      throw .unwritable("\(unchecked): \(StoreFailure.text(error))")
    }
    return try accept(unchecked, label: label)
  }

  /// Sets the present database aside as `state.db.LABEL` and moves the staged one into its place.
  ///
  /// - Returns: whether the notes of destroyed keys in the present database are lost.
  func commit(_ staged: String, label: String) throws(StoreOpenError) -> Bool {
    let areRemovalsLost: Bool
    do { areRemovalsLost = try !carryRemovals(to: staged) } catch {
      discard(staged)
      throw .unwritable("\(staged): \(StoreFailure.text(error))")
    }
    try directory.synchronize()
    let aside = directory.database + "." + label
    if Self.exists(directory.database), rename(directory.database, aside) != 0 {
      let why = SystemCallError.text(of: errno)
      unlink(staged)
      throw .unwritable("\(directory.database): \(why)")
    }
    try moveIn(staged, label: label)
    return areRemovalsLost
  }

  /// Carries the notes of destroyed keys over from the present database, so that backups that could not be changed yet are
  /// changed later.
  ///
  /// - Returns: false if the present database can't be read, or the staged one has no table for its notes.
  private func carryRemovals(to staged: String) throws -> Bool {
    guard let removals = try? presentRemovals() else { return false }
    if removals.isEmpty { return true }
    let connection = try StoreConnection.copy(at: staged)
    defer { try? connection.close() }
    return try connection.writeWithoutTransaction { db in
      guard try StoreSchema.version(of: db) >= StoreSchema.removalVersion else { return false }
      try db.inTransaction(.immediate) {
        try RemovalTable.carry(removals, db)
        return .commit
      }
      return true
    }
  }

  private func presentRemovals() throws -> [Removal] {
    guard Self.exists(directory.database) else { return [] }
    let connection = try directory.formerConnection()
    defer { try? connection.close() }
    return try connection.read { db in
      let version = try StoreSchema.version(of: db)
      if version == 0, try !StoreSchema.beginsAnew(db) { throw StoreOpenError.corrupt("it is empty") }
      return version >= StoreSchema.removalVersion ? try RemovalTable.all(db) : []
    }
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
