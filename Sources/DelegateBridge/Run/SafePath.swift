import Glibc

/// A check that only root or the daemon's user can have created the components of a path.
struct SafePath: Sendable {
  /// The reason why a path is not used, as a sentence.
  enum Refusal: Error, Hashable {
    case missing(String)
    case notAllowed(String)
  }

  /// The user that may own files and directories, besides root.
  var user: uid_t = geteuid()
  /// The advice for a missing path, as the end of a sentence.
  var remedy: String

  /// Resolves the path, including symbolic links, and returns its target with the target's status. Checks every
  /// directory on the way, including those of the links. The caller checks the target.
  func follow(_ path: String) throws(Refusal) -> (path: String, status: stat) {
    guard path.hasPrefix("/") else {
      throw .notAllowed("The token provider is not run because its path is not absolute; write it from the root on.")
    }
    var rest = Self.components(path)
    var directory = ""
    var links = 0
    try check(directory: "/")
    while !rest.isEmpty {
      let name = rest.removeFirst()
      if name == ".." {
        directory = String(directory[..<(directory.lastIndex(of: "/") ?? directory.startIndex)])
        continue
      }
      let full = directory + "/" + name
      let status = try status(of: full)
      switch status.st_mode & S_IFMT {
      case S_IFLNK:
        links += 1
        guard links <= 40 else { throw .missing("The token provider \(path) has too many symbolic links.") }
        try checkOwner(of: full, status)
        let target = try target(of: full)
        if target.hasPrefix("/") { directory = "" }
        rest = Self.components(target) + rest
      case S_IFDIR:
        try check(directory: full)
        directory = full
      default:
        guard rest.isEmpty else { throw .missing("The token provider \(path) is missing: \(full) is no directory.") }
        return (full, status)
      }
    }
    throw .notAllowed("The token provider is not run because \(path) is a directory; name a program.")
  }

  /// Throws `notAllowed` unless root or `user` owns the file.
  func checkOwner(of path: String, _ status: stat) throws(Refusal) {
    guard status.st_uid != 0, status.st_uid != user else { return }
    throw .notAllowed(
      "The token provider is not run because \(path) belongs to uid \(status.st_uid) (mode \(Self.mode(status))); "
        + "give it to root or to the daemon's user.")
  }

  /// Throws `notAllowed` if group or others may write the file.
  func checkMode(of path: String, _ status: stat) throws(Refusal) {
    guard status.st_mode & 0o022 != 0 else { return }
    throw .notAllowed(
      "The token provider is not run because others can write \(path) (mode \(Self.mode(status))); "
        + "take write permission from group and others.")
  }

  /// Returns the permissions in octal, as chmod takes them.
  static func mode(_ status: stat) -> String { String(status.st_mode & 0o7777, radix: 8) }

  private static func components(_ path: String) -> [String] {
    path.split(separator: "/").map(String.init).filter { $0 != "." }
  }

  private func status(of path: String) throws(Refusal) -> stat {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      throw errno == EACCES
        ? .missing("The token provider \(path) can't be reached by the daemon's user; open the directories above it.")
        : .missing("The token provider \(path) is missing; \(remedy).")
    }
    return status
  }

  private func target(of path: String) throws(Refusal) -> String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { readlink(path, $0, bytes.count) } ?? -1
    }
    guard count > 0 else { throw .missing("The symbolic link \(path) on the way to the token provider can't be read.") }
    return String(decoding: buffer[..<count], as: UTF8.self)
  }

  private func check(directory path: String) throws(Refusal) {
    let status = try status(of: path)
    try checkOwner(of: path, status)
    // In a sticky directory of root, other users can't replace files of root or the daemon.
    if status.st_mode & S_ISVTX != 0, status.st_uid == 0 { return }
    try checkMode(of: path, status)
  }
}
