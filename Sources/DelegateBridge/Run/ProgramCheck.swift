import Glibc

/// Decides at every run whether a program may be run: one that only root or the daemon's user can have put there.
struct ProgramCheck: Sendable {
  /// Why a program is not run, as a sentence.
  enum Refusal: Error, Hashable {
    case missing(String)
    case notAllowed(String)
  }

  /// The directories that programs must lie in; none means everywhere.
  var allowed: [String] = []
  /// The user that may own programs, besides root.
  var user: uid_t = geteuid()

  /// The path of the program itself, behind all symbolic links.
  ///
  /// Every directory on the way, those of the links included, must be as safe as the program.
  func resolve(_ path: String) throws(Refusal) -> String {
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
        try check(program: full, status)
        try checkPlace(of: full)
        return full
      }
    }
    throw .notAllowed("The token provider is not run because \(path) is a directory; name a program.")
  }

  private static func components(_ path: String) -> [String] {
    path.split(separator: "/").map(String.init).filter { $0 != "." }
  }

  private func status(of path: String) throws(Refusal) -> stat {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      throw errno == EACCES
        ? .missing("The token provider \(path) can't be reached by the daemon's user; open the directories above it.")
        : .missing("The token provider \(path) is missing; install it or change provider.command.")
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
    // In a sticky directory of root nobody can replace what is root's or the daemon's.
    if status.st_mode & S_ISVTX != 0, status.st_uid == 0 { return }
    try checkMode(of: path, status)
  }

  private func check(program path: String, _ status: stat) throws(Refusal) {
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .notAllowed("The token provider is not run because \(path) is no regular file.")
    }
    try checkOwner(of: path, status)
    try checkMode(of: path, status)
    guard status.st_mode & 0o111 != 0 else {
      throw .notAllowed(
        "The token provider is not run because \(path) is not executable (mode \(Self.mode(status))); make it so.")
    }
  }

  private func checkOwner(of path: String, _ status: stat) throws(Refusal) {
    guard status.st_uid != 0, status.st_uid != user else { return }
    throw .notAllowed(
      "The token provider is not run because \(path) belongs to uid \(status.st_uid) (mode \(Self.mode(status))); "
        + "give it to root or to the daemon's user.")
  }

  private func checkMode(of path: String, _ status: stat) throws(Refusal) {
    guard status.st_mode & 0o022 != 0 else { return }
    throw .notAllowed(
      "The token provider is not run because others can write \(path) (mode \(Self.mode(status))); "
        + "take write permission from group and others.")
  }

  private func checkPlace(of path: String) throws(Refusal) {
    if allowed.isEmpty { return }
    let isInside = allowed.contains { directory in
      guard let resolved = realpath(directory, nil) else { return false }
      defer { free(resolved) }
      let place = String(cString: resolved)
      return path.hasPrefix(place.hasSuffix("/") ? place : place + "/")
    }
    guard !isInside else { return }
    throw .notAllowed("The token provider is not run because \(path) is in none of the directories of bridge.allow.")
  }

  private static func mode(_ status: stat) -> String { String(status.st_mode & 0o7777, radix: 8) }
}
