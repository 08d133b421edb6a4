import Foundation
import Glibc
import JSONRPC

/// Changes to the files of a stopped daemon's state.
extension Desk {
  var database: URL { state.appendingPathComponent("state.db") }

  /// Returns the names of the files in the state that begin with `prefix`.
  func stateFiles(_ prefix: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: state.path)) ?? []
    return names.filter { $0.hasPrefix(prefix) }.sorted()
  }

  /// Removes the database and the files that SQLite has beside it.
  func removeDatabase() {
    for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: database.path + ending) }
  }

  /// Runs SQL on the database.
  func changeDatabase(_ sql: String) throws {
    let script = """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1])
      db.executescript(sys.argv[2])
      db.close()
      """
    let name = UUID().uuidString
    let program = try Program(
      "/usr/bin/python3", ["-c", script, database.path, sql], output: folder.appendingPathComponent("out-\(name)"),
      log: folder.appendingPathComponent("err-\(name)"))
    guard program.exit(within: 30) == 0 else { throw Program.Failure(description: program.logText) }
  }

  /// Gives the state to a user; needs root.
  func giveState(to uid: UInt32) throws {
    let names = [""] + (try FileManager.default.subpathsOfDirectory(atPath: state.path)).map { "/" + $0 }
    for name in names where lchown(state.path + name, uid, uid) != 0 {
      throw Program.Failure(description: "\(name): \(String(cString: strerror(errno)))")
    }
  }

  /// Returns the files of the state that do not belong to a user.
  func stateFiles(notOwnedBy uid: UInt32) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: state.path).filter { name in
      var information = stat()
      return lstat(state.path + "/" + name, &information) != 0 || information.st_uid != uid
    }
  }
}
