import Glibc

/// The creation of directories that a daemon started by hand needs.
enum Directories {
  /// Creates a directory and its missing parents. Existing ones stay unchanged. A failure is reported when the
  /// directory is used.
  static func make(_ path: String, mode: mode_t) {
    var made = path.hasPrefix("/") ? "/" : ""
    for part in path.split(separator: "/") {
      made += made.isEmpty || made.hasSuffix("/") ? String(part) : "/\(part)"
      mkdir(made, mode)
    }
  }

  /// Returns the directory of a path; `.` for a bare name.
  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
