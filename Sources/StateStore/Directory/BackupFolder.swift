import FoundationEssentials
import Glibc
import Linux
import SDKProtocol

/// The folder `backups/` in the state directory. The modification time of a backup's file is the time of its state.
struct BackupFolder: Sendable {
  static let suffix = ".db"
  /// The endings of the names of a database file and of SQLite's other files beside it.
  static let endings = ["", "-journal", "-wal", "-shm"]
  /// The number of backups that are tried in search of a good one, in the order of `backups(at:)`.
  static let triedCount = 16
  let path: String

  init(in directory: StateDirectory) { self.init(path: directory.path + "/backups") }

  init(path: String) { self.path = path }

  func file(_ name: String) -> String { path + "/" + name + Self.suffix }

  /// Opens a backup.
  func source(_ name: String) throws(StoreOpenError) -> DatabaseSource {
    try DatabaseSource(path: file(name), name: name)
  }

  /// The path of a backup that is still being written.
  var partial: String { path + "/.partial" }

  /// Returns all backups, newest first. Backups dated after `now` count as the oldest and come last: they were made
  /// before the clock was set back.
  func backups(at now: Timestamp) throws(StoreOpenError) -> [StateBackup] {
    let sorted = try all().sorted { ($0.createdAt, $0.name) > ($1.createdAt, $1.name) }
    return sorted.filter { $0.createdAt <= now } + sorted.filter { $0.createdAt > now }
  }

  /// Returns all backups, in no particular order.
  func all() throws(StoreOpenError) -> [StateBackup] {
    try names().filter { $0.hasSuffix(Self.suffix) && !$0.hasPrefix(".") }.compactMap { name in
      backup(named: String(name.dropLast(Self.suffix.count)))
    }
  }

  /// Returns the names of all files in the folder; none if the folder does not exist.
  private func names() throws(StoreOpenError) -> [String] {
    guard try isThere() else { return [] }
    do { return try FileManager.default.contentsOfDirectory(atPath: path) } catch {
      throw .unwritable("\(path) can't be read")
    }
  }

  /// Returns whether the folder exists.
  ///
  /// - Throws: `unwritable` for a link or a file. The target of a link may belong to another user.
  private func isThere() throws(StoreOpenError) -> Bool {
    var information = stat()
    guard lstat(path, &information) == 0 else {
      if errno == ENOENT { return false }
      throw .unwritable(path: path)
    }
    guard information.st_mode & S_IFMT == S_IFDIR else {
      throw .unwritable("\(path) is a link or a file; put a folder in its place, or mount one there")
    }
    return true
  }

  /// Returns the backup with this name, or `nil` if there is none.
  func backup(named name: String) -> StateBackup? {
    var information = stat()
    guard lstat(file(name), &information) == 0, information.st_mode & S_IFMT == S_IFREG else { return nil }
    let time = Double(information.st_mtim.tv_sec) + Double(information.st_mtim.tv_nsec) / 1_000_000_000
    return StateBackup(
      name: name, bytes: Int(information.st_size), createdAt: Timestamp(secondsSince1970: time))
  }

  /// Creates the folder if needed, and removes a partial backup.
  func prepare() throws(StoreOpenError) {
    if try !isThere(), mkdir(path, 0o700) != 0 { throw .unwritable(path: path) }
    removePartial()
  }

  func removePartial() {
    for ending in Self.endings { unlink(partial + ending) }
  }

  /// Removes what a crash left and no backup needs: a partial backup, and SQLite's files beside backups that were deleted
  /// since. Makes the removal durable. No wipe would destroy the keys in them.
  func discardLeftovers() throws(StoreOpenError) {
    let left = try names().filter { isPartial($0) || isOrphan($0) }
    for file in left.map({ path + "/" + $0 }) where unlink(file) != 0 && errno != ENOENT {
      throw .unwritable(path: file)
    }
    if !left.isEmpty { try synchronize() }
  }

  private func isPartial(_ name: String) -> Bool { Self.endings.contains { path + "/" + name == partial + $0 } }

  /// Returns whether a file is a journal or a log of a backup that is not there, or the index of that log.
  private func isOrphan(_ name: String) -> Bool {
    let endings = Self.endings.filter { !$0.isEmpty }
    guard !name.hasPrefix("."), let ending = endings.first(where: { name.hasSuffix(Self.suffix + $0) }) else {
      return false
    }
    var information = stat()
    guard lstat(path + "/" + name, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { return false }
    return lstat(path + "/" + String(name.dropLast(ending.count)), &information) != 0 && errno == ENOENT
  }

  /// Makes the partial backup durable, sets its time and gives it its name.
  func finish(_ name: String, at time: Timestamp) throws(StoreOpenError) {
    do {
      let file = try OwnedDescriptor(opening: partial, O_RDWR)
      if fsync(file.raw) != 0 { throw StoreOpenError.unwritable(path: partial) }
    }
    setTime(of: partial, to: time)
    // Unlike a rename, a link never replaces an existing backup.
    if link(partial, file(name)) != 0 { throw .unwritable(path: file(name)) }
    unlink(partial)
    try synchronize()
  }

  /// Deletes a backup. The database goes first: without its journal or log it would be a wrong backup, while
  /// `discardLeftovers` removes these after a crash.
  func remove(_ backup: StateBackup) throws(StoreOpenError) {
    let file = file(backup.name)
    for ending in Self.endings where unlink(file + ending) != 0 && errno != ENOENT {
      throw .unwritable(path: file)
    }
    try synchronize()
  }

  func setTime(of file: String, to time: Timestamp) {
    let seconds = time.secondsSince1970.rounded(.down)
    // A damaged backup can contain any number.
    guard let whole = Int(exactly: seconds) else { return }
    let stamp = timespec(
      tv_sec: whole, tv_nsec: Int(((time.secondsSince1970 - seconds) * 1_000_000_000).rounded(.down)))
    var times = (stamp, stamp)
    withUnsafePointer(to: &times) { pair in
      pair.withMemoryRebound(to: timespec.self, capacity: 2) { _ = utimensat(AT_FDCWD, file, $0, 0) }
    }
  }

  private func synchronize() throws(StoreOpenError) {
    let folder = try OwnedDescriptor(opening: path, O_RDONLY | O_DIRECTORY)
    if fsync(folder.raw) != 0 { throw .unwritable(path: path) }
  }
}
