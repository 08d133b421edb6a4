import CLinux
import Glibc
import Linux
import SQLite
import Synchronization

/// The state directory, locked exclusively during the lifetime of this object.
final class StateDirectory: Sendable {
  let path: String
  private let directory: OwnedDescriptor
  /// The lock file of earlier releases, if it exists.
  private let formerLock = Mutex<OwnedDescriptor?>(nil)

  var database: String { path + "/state.db" }
  var writeAheadLog: String { database + "-wal" }
  var sharedMemory: String { database + "-shm" }
  var rootKey: String { path + "/root.key" }

  /// Creates the directory if needed, removes the access of other users, and locks it.
  ///
  /// - Throws: `stateInUse`, `networkFileSystem`, `unwritable`. Root is refused in another user's directory, because
  ///   that user could redirect root's writes by links.
  init(_ path: String) throws(StoreOpenError) {
    self.path = path
    try Self.create(path)
    directory = try OwnedDescriptor(opening: path, O_RDONLY | O_DIRECTORY)
    var type: UInt = 0
    if cl_statfs_type(directory.raw, &type) == 0, let name = NetworkFileSystem.name(ofType: type) {
      throw .networkFileSystem(directory: path, type: name)
    }
    var information = stat()
    guard fstat(directory.raw, &information) == 0 else {
      throw .unwritable(path: path)
    }
    if geteuid() == 0, information.st_uid != 0 {
      throw .unwritable("\(path) belongs to uid \(information.st_uid), so run sdkd as that user and not as root")
    }
    try directory.restrict(to: 0o700, path: path)
    try lock()
  }

  /// Locks the directory itself, because a lock file in it could be replaced by an unlocked one. Also locks the lock
  /// file of earlier releases.
  private func lock() throws(StoreOpenError) {
    var held = [directory]
    if let former = try? OwnedDescriptor(opening: path + "/lock", O_RDWR | O_NONBLOCK) {
      formerLock.withLock { $0 = former }
      held.append(former)
    }
    for descriptor in held {
      let status = cl_flock_exclusive_nonblocking(descriptor.raw)
      if status == -EWOULDBLOCK { throw .stateInUse(directory: path) }
      if status < 0 { throw .unwritable("\(path) can't be locked: \(SystemCallError.text(of: -status))") }
    }
  }

  private static func create(_ path: String) throws(StoreOpenError) {
    var information = stat()
    if stat(path, &information) == 0 { return }
    if let slash = path.lastIndex(of: "/"), slash != path.startIndex { try create(String(path[..<slash])) }
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw .unwritable(path: path) }
  }

  /// Returns whether there is a database that is not empty.
  func hasDatabase() throws(StoreOpenError) -> Bool { try hasContent(database) }

  /// Whether the database is marked as the beginning of a new state and nothing was written to it yet.
  var beginsAnew: Bool {
    guard let header = (try? OwnedDescriptor(readingFile: database))?.read(72), header.count == 72,
      (try? hasContent(writeAheadLog)) == false
    else { return false }
    func number(at offset: Int) -> UInt32 { header[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) } }
    return number(at: 60) == 0 && number(at: 68) == UInt32(StoreSchema.applicationID)
  }

  /// Returns whether files show that there was a state: its root key, backups, or a write-ahead log without a database.
  /// Beside a database, the log is not evidence, since it may be the first one.
  func hasRemains(besidesDatabase hasDatabase: Bool) throws(StoreOpenError) -> Bool {
    if try hasContent(rootKey) { return true }
    if !hasDatabase, try hasContent(writeAheadLog) { return true }
    return try !BackupFolder(in: self).all().isEmpty
  }

  /// Opens the only connection to the database, for reading, on a disk that can't be written.
  func loneConnection() throws -> DatabaseConnection {
    do { return try StoreConnection.lone(at: database) } catch {
      // Without a log there is nothing that the database itself lacks.
      guard StoreFailure.isPassing(error), try !hasContent(writeAheadLog) else { throw error }
      return try StoreConnection.immutable(at: database)
    }
  }

  /// Opens a database that is about to be replaced, for reading. It stays as it is, and so does the write-ahead log that a
  /// crash has left: SQLite only makes the index of that log.
  func formerConnection() throws -> DatabaseConnection {
    try hasContent(writeAheadLog) ? StoreConnection.reader(at: database) : StoreConnection.immutable(at: database)
  }

  private func hasContent(_ file: String) throws(StoreOpenError) -> Bool {
    var information = stat()
    if stat(file, &information) == 0 { return information.st_size > 0 }
    // A state that can't be accessed must not be taken for a missing one: a new key would be created over it.
    if errno != ENOENT { throw .unwritable(path: file) }
    return false
  }

  /// Creates the database file if it is missing, and removes the access of other users to all database files. SQLite
  /// creates its other files with the same mode.
  func prepareDatabaseFile() throws(StoreOpenError) {
    let file = try OwnedDescriptor(opening: database, O_RDWR | O_CREAT, mode: 0o600)
    try file.restrict(to: 0o600, path: database)
    for path in [writeAheadLog, sharedMemory] {
      guard let file = try? OwnedDescriptor(opening: path, O_RDWR) else { continue }
      try file.restrict(to: 0o600, path: path)
    }
    try synchronize()
  }

  /// Releases the locks, so that another process can use the directory.
  func unlock() {
    _ = cl_funlock(directory.raw)
    formerLock.withLock { $0 = nil }
  }

  /// Makes the directory entries durable.
  func synchronize() throws(StoreOpenError) {
    if fsync(directory.raw) != 0 { throw .unwritable(path: path) }
  }
}

/// Network file systems, whose locks and shared memory maps may be unreliable.
enum NetworkFileSystem {
  private static let names: [UInt: String] = [
    0x6969: "NFS",
    0x517B: "SMB",
    0xFF53_4D42: "CIFS",
    0xFE53_4D42: "SMB",
    0x5346_414F: "AFS",
    0x6B41_4653: "AFS",
    0x0102_1997: "9p",
    0x7375_7245: "Coda",
    0x564C: "NCP",
    0x00C3_6400: "Ceph",
    0x0BD0_0BD0: "Lustre",
    0x4750_4653: "GPFS",
    0x1983_0326: "BeeGFS",
  ]

  /// Returns the name of a network file system with this `statfs` type; `nil` for any other type.
  static func name(ofType type: UInt) -> String? { names[type] }
}

/// The check whether the files of a state can be written, independent of their content.
public enum StateAccess {
  /// The size of the probe file in bytes. An empty file can be created on a full disk too.
  private static let probeBytes = 64 << 10

  /// Returns whether a file of 64 KiB can be written to the directory and the existing database files can be opened for
  /// writing. Must not be called while a store is open.
  public static func isWritable(_ directory: String) -> Bool {
    let probe = directory + "/.probe"
    unlink(probe)
    defer { unlink(probe) }
    guard let file = try? OwnedDescriptor(opening: probe, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600),
      (try? file.write([UInt8](repeating: 1, count: probeBytes), path: probe)) != nil
    else { return false }
    return ["", "-wal", "-shm"].allSatisfy { ending in
      let path = directory + "/state.db" + ending
      if access(path, F_OK) != 0, errno == ENOENT { return true }
      return (try? OwnedDescriptor(opening: path, O_RDWR | O_NONBLOCK)) != nil
    }
  }
}

/// A lock on the directory of a state that can't be opened. It lasts for the lifetime of this object.
public final class StateHold: Sendable {
  private let directory: StateDirectory

  /// Locks the directory.
  ///
  /// - Throws: `stateInUse`, or the reason why the directory can't be used at all.
  public init(directory: String) throws(StoreOpenError) { self.directory = try StateDirectory(directory) }
}
