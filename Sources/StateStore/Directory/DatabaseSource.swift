import Glibc
import Linux

/// An open database file, and the open files beside it that hold a part of its content.
public struct DatabaseSource: Sendable {
  /// The endings of the names of SQLite's files that hold changes, or undo them. SQLite applies them when it opens the
  /// database.
  private static let endings = ["-wal", "-journal"]

  /// The name of the database in messages.
  let name: String
  let file: OwnedDescriptor
  /// The files beside the database that are not empty, with the endings of their names.
  private(set) var parts: [(ending: String, file: OwnedDescriptor)] = []

  /// Opens a database and the files beside it.
  ///
  /// - Throws: `noBackup` when one of the files beside it is a link or another special file. Without its content, the
  ///   database could be an older state or an inconsistent one.
  init(path: String, name: String) throws(StoreOpenError) {
    self.name = name
    file = try OwnedDescriptor(readingFile: path)
    for ending in Self.endings {
      let part = path + ending
      var information = stat()
      guard lstat(part, &information) == 0 else {
        if errno == ENOENT { continue }
        throw .unwritable(path: part)
      }
      guard information.st_mode & S_IFMT == S_IFREG else { throw refusal("\(part) is not a regular file") }
      if information.st_size > 0 { parts.append((ending, try OwnedDescriptor(readingFile: part))) }
    }
  }

  /// Returns the error for a database that can't be restored.
  func refusal(_ why: String) -> StoreOpenError {
    .noBackup("\(name) is no good backup: \(why). Nothing was changed.")
  }

  /// Opens a database that is given by its path, with the rights of the caller. Links are followed.
  ///
  /// - Throws: `noBackup` when a file can't be read, or a journal beside the database has to be rolled back. A journal
  ///   can name other files, which SQLite then deletes.
  public static func opened(at path: String) throws(StoreOpenError) -> DatabaseSource {
    guard let real = realpath(path, nil) else {
      throw .noBackup("\(path) can't be read: \(SystemCallError.text(of: errno)).")
    }
    defer { free(real) }
    let source: DatabaseSource
    do throws(StoreOpenError) { source = try DatabaseSource(path: String(cString: real), name: path) } catch {
      guard case .unwritable(let why) = error else { throw error }
      throw .noBackup("The database can't be read: \(why).")
    }
    guard !source.parts.contains(where: { $0.ending == "-journal" }) else {
      throw .noBackup(
        "A change of \(path) was interrupted, as \(path)-journal shows. Undo it first: sqlite3 \(path) .tables; then "
          + "try again. Nothing was changed.")
    }
    return source
  }
}
