import Foundation
import Testing

@testable import SQLite

/// A directory with a database, which is removed with this object.
final class Scratch: Sendable {
  let folder: String

  var path: String { folder + "/test.db" }

  init() throws {
    folder = FileManager.default.temporaryDirectory.path + "/sqlite-tests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Opens the database.
  func open(isReadOnly: Bool = false, busyTimeout: Double = 0) throws -> DatabaseConnection {
    try DatabaseConnection(path: path, isReadOnly: isReadOnly, busyTimeout: busyTimeout)
  }

  /// Opens the database, and makes a table `item` with a column `value` of any type.
  func openWithTable() throws -> DatabaseConnection {
    let connection = try open()
    try connection.write { db in try db.execute(sql: "CREATE TABLE item (value)") }
    return connection
  }

  /// Runs a program of Python's, which has SQLite's other well-known binding. Returns what it prints.
  func python(_ program: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", program, path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let printed = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    return String(decoding: printed, as: UTF8.self)
  }
}

/// Opens a database in memory, with a table `item` with a column `value` of any type.
func memoryWithTable() throws -> DatabaseConnection {
  let connection = try DatabaseConnection()
  try connection.write { db in try db.execute(sql: "CREATE TABLE item (value)") }
  return connection
}

/// Returns the code of the error that `body` throws; `nil` without one.
func code(of body: () throws -> Void) throws -> ResultCode? {
  do {
    try body()
    return nil
  } catch let error as DatabaseError {
    return error.resultCode
  }
}

extension DatabaseConnection {
  /// The integers in the table, in their order.
  func integers() throws -> [Int] {
    try read { db in try Int.fetchAll(db, sql: "SELECT value FROM item ORDER BY value") }
  }

  func insert(_ value: some DatabaseValueConvertible) throws {
    try write { db in try db.execute(sql: "INSERT INTO item VALUES (?)", arguments: [value]) }
  }
}
