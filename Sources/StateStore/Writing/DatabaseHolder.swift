import Glibc
import Linux
import Logging
import SQLite

/// The connections to one database, and their recovery after a failure.
///
/// Only the writer's queue uses this object.
final class DatabaseHolder {
  private let directory: StateDirectory
  private let log: WriteAheadLog
  private let reader: StoreReader
  private let tuning: StoreTuning
  private var connection: DatabaseConnection?
  /// Opens a state that could only be read so far; `nil` once that has succeeded.
  private var openAgain: (@Sendable () throws(StoreOpenError) -> DatabaseConnection)?
  /// The length in bytes to which the log must be cut before it is opened again; `nil` to leave it as it is.
  private var committedLength: Int?

  /// - Parameter openAgain: opens a state that can only be read now. `connection` is `nil` then.
  init(
    directory: StateDirectory, connection: DatabaseConnection?, reader: StoreReader, tuning: StoreTuning,
    openAgain: (@Sendable () throws(StoreOpenError) -> DatabaseConnection)? = nil
  ) {
    self.directory = directory
    self.connection = connection
    self.openAgain = openAgain
    self.reader = reader
    self.tuning = tuning
    log = WriteAheadLog(directory: directory)
  }

  /// Calls `body` with the connection, which is opened again first if it is closed.
  func use<Value>(_ body: (Database) throws -> Value) throws -> Value {
    if connection == nil { try reopen() }
    guard let connection else { throw StoreOpenError.unwritable("no connection") }
    return try connection.writeWithoutTransaction { db in try body(db) }
  }

  /// Closes the connections after a failure and opens them again, so that nothing in SQLite's memory is trusted.
  func reopen() throws {
    if connection != nil { committedLength = log.committedLength() }
    do {
      // A state that could never be written can still be read.
      let lone = { [self] in openAgain == nil ? nil : try? directory.loneConnection() }
      try reader.whileClosed(thenOpenAt: directory.database, orElse: lone) {
        closeConnection()
        try open()
      }
    } catch {
      closeConnection()
      throw error
    }
  }

  func close() {
    reader.close()
    closeConnection()
  }

  private func closeConnection() {
    try? connection?.close()
    connection = nil
  }

  private func open() throws {
    try tuning.at(.reopening, nil)
    if let length = committedLength { try log.cut(to: length) }
    committedLength = nil
    if let openAgain {
      connection = try openAgain()
      self.openAgain = nil
      return
    }
    let opened = try StoreConnection.writer(at: directory.database)
    try opened.writeWithoutTransaction { db in try StoreSchema.check(db) }
    connection = opened
  }
}

/// The write-ahead log as a file.
///
/// When a COMMIT fails in its fsync, its frames may still be in the log. The next opening would then take the change
/// for committed, although its caller got an error. SQLite updates the index in shared memory only after the fsync, so
/// the index shows the true end of the log.
struct WriteAheadLog {
  let directory: StateDirectory

  /// Returns the length of the committed log in bytes, while a connection is open; `nil` if the index can't be read.
  func committedLength() -> Int? {
    guard let file = try? OwnedDescriptor(opening: directory.sharedMemory, O_RDONLY),
      let header = file.read(96), header.count == 96, Array(header[..<48]) == Array(header[48...]), header[12] == 1
    else { return nil }
    let sizeField = Int(header.load(at: 14, as: UInt16.self))
    let pageSize = sizeField == 1 ? 65_536 : sizeField
    let frames = Int(header.load(at: 16, as: UInt32.self))
    return frames == 0 ? 0 : 32 + frames * (24 + pageSize)
  }

  /// Cuts the log to this length, while no connection is open.
  func cut(to length: Int) throws(StoreOpenError) {
    let path = directory.writeAheadLog
    var information = stat()
    guard stat(path, &information) == 0, information.st_size > length else { return }
    let file = try OwnedDescriptor(opening: path, O_RDWR)
    guard ftruncate(file.raw, off_t(length)) == 0, fsync(file.raw) == 0 else {
      throw .unwritable(path: path)
    }
  }
}

extension [UInt8] {
  fileprivate func load<Number: FixedWidthInteger>(at offset: Int, as: Number.Type) -> Number {
    withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
  }
}
