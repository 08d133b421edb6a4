import Glibc

/// Makes the directories that a daemon started by hand needs and nobody has made yet.
enum Directories {
  /// Makes a directory and those above it; ones that are there stay as they are. What fails shows when it is used.
  static func make(_ path: String, mode: mode_t) {
    var made = path.hasPrefix("/") ? "/" : ""
    for part in path.split(separator: "/") {
      made += made.isEmpty || made.hasSuffix("/") ? String(part) : "/\(part)"
      mkdir(made, mode)
    }
  }

  /// The directory that a path lies in; `.` for a bare name.
  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
