import Glibc
import JSONRPC
import Linux
import SDKProtocol

/// The backups of a daemon's state, as files in `backups/` below the state directory.
struct BackupList {
  private static let suffix = ".db"

  let context: CommandContext
  let global: GlobalOptions

  /// Prints the backups, newest first.
  ///
  /// - Throws: `CommandFailure` when the directory is unknown or can't be read.
  func show() async throws {
    let place = try DaemonPlace(global.location)
    var state = place.state
    if state == nil {
      let info = try await context.ask(DaemonInfo.self, Empty())
      state = info["paths"]?["state"]?.stringValue
    }
    guard let state else {
      throw CommandFailure(
        message: "Where the daemon at \(place.socket) keeps its state, only an admin is told.", reason: "notPermitted",
        status: 4)
    }
    let backups = try Self.backups(in: "\(state)/backups")
    try context.presenter.list(backups.map(\.json), none: "There are no backups in \(state)/backups.", context.errors) {
      Table(
        header: ["NAME", "SIZE", "MADE"],
        rows: backups.map { backup in
          [.init(backup.name), .init(Figure.bytes(Double(backup.bytes))), .init(backup.createdAt.description)]
        })
    }
  }

  private struct Backup {
    var name: String
    var bytes: Int
    var createdAt: Timestamp

    var json: JSON {
      ["name": .string(name), "bytes": JSON(bytes), "createdAt": .string(createdAt.description)]
    }
  }

  private static func backups(in folder: String) throws -> [Backup] {
    guard let directory = opendir(folder) else {
      let error = errno
      if error == ENOENT { return [] }
      throw CommandFailure(
        message: "\(folder) can't be read: \(SystemCallError.text(of: error)).",
        reason: error == EACCES ? "notPermitted" : "input", status: error == EACCES ? 4 : 1,
        hints: error == EACCES ? ["run it as root"] : [])
    }
    defer { closedir(directory) }
    var found: [Backup] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name.hasSuffix(suffix), !name.hasPrefix(".") else { continue }
      var status = stat()
      guard lstat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      found.append(
        Backup(
          name: String(name.dropLast(suffix.count)), bytes: Int(status.st_size),
          createdAt: Timestamp(secondsSince1970: Double(status.st_mtim.tv_sec))))
    }
    return found.sorted { ($1.createdAt, $0.name) < ($0.createdAt, $1.name) }
  }
}
