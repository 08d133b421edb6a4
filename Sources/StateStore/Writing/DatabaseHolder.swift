import GRDB
import Logging

/// The connections to one database, and their recovery after a failure.
///
/// Only the writer's queue uses this object.
final class DatabaseHolder {
  private let directory: StateDirectory
  private let log: WriteAheadLog
  private let reader: StoreReader
  private let tuning: StoreTuning
  private var connection: DatabaseQueue?
  /// The length in bytes to which the log must be cut before it is opened again; `nil` to leave it as it is.
  private var committedLength: Int?

  init(directory: StateDirectory, connection: DatabaseQueue, reader: StoreReader, tuning: StoreTuning) {
    self.directory = directory
    self.connection = connection
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
      try reader.whileClosed(thenOpenAt: directory.database) {
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
    let opened = try StoreConnection.writer(at: directory.database)
    try opened.writeWithoutTransaction { db in try StoreSchema.check(db) }
    connection = opened
  }
}
