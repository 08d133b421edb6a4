import Glibc

/// A provider's program, checked as the daemon does (`provider.md`, "Which programs"). The program and all directories
/// above it must belong to root or the daemon's user, and be writable by no one else. A sticky directory of root is
/// accepted too.
struct ProgramPath {
  let path: String
  /// The daemon's uid; `nil` if unknown, and then only root's files pass.
  let daemon: UInt32?
  /// The advice for naming another program, as the end of a sentence.
  var replacement = "name another"

  /// The problem and its remedy; `nil` when there is none.
  var problem: (message: String, advice: String)? {
    guard path.hasPrefix("/") else { return ("\(path) is no absolute path.", "give the whole path") }
    guard let real = realpath(path, nil) else {
      return errno == ENOENT || errno == ENOTDIR
        ? ("\(path) does not exist.", "install it, or \(replacement)") : nil
    }
    defer { free(real) }
    let program = String(cString: real)
    var place = program
    while true {
      if let problem = Self.problem(of: place, daemon) { return problem }
      guard place != "/", let slash = place.lastIndex(of: "/") else { break }
      place = slash == place.startIndex ? "/" : String(place[..<slash])
    }
    guard access(program, X_OK) == 0 else { return ("\(program) can't be executed.", "chmod 755 \(program)") }
    return nil
  }

  private static func problem(of place: String, _ daemon: UInt32?) -> (message: String, advice: String)? {
    var status = stat()
    guard stat(place, &status) == 0 else { return nil }
    guard status.st_uid == 0 || status.st_uid == daemon else {
      return ("\(place) belongs to neither root nor the daemon's user.", "chown root \(place)")
    }
    let isStickyFolder = status.st_mode & S_IFMT == S_IFDIR && status.st_mode & S_ISVTX != 0 && status.st_uid == 0
    guard status.st_mode & 0o022 == 0 || isStickyFolder else {
      return ("\(place) can be written by others.", "chmod go-w \(place)")
    }
    return nil
  }
}
