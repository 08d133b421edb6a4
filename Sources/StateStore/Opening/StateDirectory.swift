import CLinux
import Glibc
import Synchronization

/// The directory of the state, held exclusively for as long as this lives.
final class StateDirectory: Sendable {
  let path: String
  private let directory: FileDescriptor
  private let lock = Mutex<FileDescriptor?>(nil)

  var database: String { path + "/state.db" }
  var writeAheadLog: String { database + "-wal" }
  var sharedMemory: String { database + "-shm" }
  var rootKey: String { path + "/root.key" }

  /// Makes the directory if needed, closes it to others and locks it.
  init(_ path: String) throws(StoreOpenError) {
    self.path = path
    try Self.create(path)
    directory = try FileDescriptor(opening: path, O_RDONLY | O_DIRECTORY)
    var type: UInt = 0
    if cl_statfs_type(directory.number, &type) == 0, let name = NetworkFileSystem.name(ofType: type) {
      throw .networkFileSystem(directory: path, type: name)
    }
    try directory.restrict(to: 0o700, path: path)
    let lock = try FileDescriptor(opening: path + "/lock", O_RDWR | O_CREAT, mode: 0o600)
    let status = cl_flock_exclusive_nonblocking(lock.number)
    if status == -EWOULDBLOCK { throw .stateInUse(directory: path) }
    if status < 0 { throw .unwritable("\(path)/lock: \(FileDescriptor.text(of: -status))") }
    self.lock.withLock { $0 = lock }
    try give(lock, path: path + "/lock")
  }

  /// Gives a file to the directory's owner: root may be making it for a daemon that has a user of its own.
  func give(_ file: FileDescriptor, path: String) throws(StoreOpenError) {
    guard geteuid() == 0 else { return }
    var owner = stat()
    guard fstat(directory.number, &owner) == 0, fchown(file.number, owner.st_uid, owner.st_gid) == 0 else {
      throw .unwritable("\(path): \(FileDescriptor.text(of: errno))")
    }
  }

  private static func create(_ path: String) throws(StoreOpenError) {
    var information = stat()
    if stat(path, &information) == 0 { return }
    if let slash = path.lastIndex(of: "/"), slash != path.startIndex { try create(String(path[..<slash])) }
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw .unwritable("\(path): \(FileDescriptor.text(of: errno))") }
  }

  /// True if there is a state: its database, or a log that a database would be recovered from.
  func hasDatabase() throws(StoreOpenError) -> Bool {
    for file in [database, writeAheadLog] {
      var information = stat()
      if stat(file, &information) == 0 {
        // An empty file is one that was made and not written yet.
        if information.st_size > 0 { return true }
        continue
      }
      // A state that can't be seen is not a state that is not there: a new key must not be made over it.
      if errno != ENOENT { throw .unwritable("\(file): \(FileDescriptor.text(of: errno))") }
    }
    return false
  }

  /// Makes the database's file if it is missing, and closes all of its files to others; SQLite gives the files
  /// beside it the same mode.
  func prepareDatabaseFile() throws(StoreOpenError) {
    let file = try FileDescriptor(opening: database, O_RDWR | O_CREAT, mode: 0o600)
    try file.restrict(to: 0o600, path: database)
    for path in [writeAheadLog, sharedMemory] {
      guard let file = try? FileDescriptor(opening: path, O_RDWR) else { continue }
      try file.restrict(to: 0o600, path: path)
    }
    try synchronize()
  }

  /// Lets another process have the directory.
  func unlock() { lock.withLock { $0 = nil } }

  /// Makes the names in the directory durable.
  func synchronize() throws(StoreOpenError) {
    if fsync(directory.number) != 0 { throw .unwritable("\(path): \(FileDescriptor.text(of: errno))") }
  }
}
