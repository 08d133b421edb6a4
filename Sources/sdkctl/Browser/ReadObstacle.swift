import Glibc

/// The first part of a file's path whose permissions keep a user from reading the file: a folder that the user may not
/// enter, or the file itself.
struct ReadObstacle: Hashable {
  /// The path of the folder or the file.
  let path: String
  /// Whether it is a folder.
  let isFolder: Bool

  /// Returns what keeps this process from reading a file; `nil` if no permission does.
  static func forCaller(_ path: String) -> ReadObstacle? {
    first(on: path) { part, isFolder in access(part, isFolder ? X_OK : R_OK) == 0 }
  }

  /// Returns what keeps users other than the owners and groups of the path's parts from reading a file; `nil` if
  /// everyone may read it. Access control lists don't count, nor do parts that the caller can't see.
  static func forOthers(_ path: String) -> ReadObstacle? {
    first(on: path) { part, isFolder in
      var status = stat()
      return stat(part, &status) != 0 || status.st_mode & (isFolder ? S_IXOTH : S_IROTH) != 0
    }
  }

  /// Returns the first part of a path that is not open: first the folders from the root on, then the file. Symbolic links
  /// are followed, but the folders on the way to their target are not looked at.
  private static func first(
    on path: String, isOpen: (_ part: String, _ isFolder: Bool) -> Bool
  ) -> ReadObstacle? {
    let slashes = path.indices.filter { path[$0] == "/" }
    let folders = slashes.map { $0 == path.startIndex ? "/" : String(path[..<$0]) }
    if let folder = folders.first(where: { !isOpen($0, true) }) { return ReadObstacle(path: folder, isFolder: true) }
    return isOpen(path, false) ? nil : ReadObstacle(path: path, isFolder: false)
  }

  /// What a user may not do, as the end of a sentence that begins with the user and "may not".
  var deed: String { isFolder ? "enter the folder \(path)" : "read \(path)" }

  /// The command with which its owner or root opens it to every user.
  var remedy: String { "chmod o+\(isFolder ? "x" : "r") \(path)" }
}
