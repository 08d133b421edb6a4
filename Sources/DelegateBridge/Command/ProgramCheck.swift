import Glibc
import Linux

/// A check, made at every run, that only root or the daemon's user can have installed the program.
struct ProgramCheck: Sendable {
  typealias Refusal = SafePath.Refusal

  /// The directories that programs must be in; an empty array allows every directory.
  var allowed: [String] = []
  /// The user that may own programs, besides root.
  var user: uid_t = geteuid()

  /// Returns the path of the program itself, with all symbolic links resolved.
  ///
  /// Every directory on the path, including those of the links, must be as safe as the program.
  func resolve(_ path: String) throws(Refusal) -> String {
    let way = SafePath(user: user, remedy: "install it or change provider.command")
    let (full, status) = try way.follow(path)
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .notAllowed("The token provider is not run because \(full) is no regular file.")
    }
    try way.checkOwner(of: full, status)
    try way.checkMode(of: full, status)
    guard status.st_mode & 0o111 != 0 else {
      throw .notAllowed(
        "The token provider is not run because \(full) is not executable (mode \(SafePath.mode(status))); make it so.")
    }
    try checkPlace(of: full)
    try checkInterpreter(of: full)
    return full
  }

  /// Checks that a script's interpreter is as safe as the script. It may itself be a script.
  private func checkInterpreter(of program: String, depth: Int = 0) throws(Refusal) {
    guard let path = Interpreter.path(of: program) else { return }
    // The kernel has the same limit.
    guard depth < 5 else { throw .missing("The token provider \(program) has too many interpreters.") }
    let way = SafePath(user: user, remedy: "install it or change the first line of \(program)")
    let (full, status) = try way.follow(path)
    try way.checkOwner(of: full, status)
    try way.checkMode(of: full, status)
    try checkInterpreter(of: full, depth: depth + 1)
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
}

/// The interpreter that the first line of a script names.
enum Interpreter {
  /// The length of a script's first line that the kernel reads, in bytes.
  private static let length = 256

  /// Returns the interpreter's path as written; `nil` if the file is not a script or can't be read.
  static func path(of program: String) -> String? {
    BoundedFile.beginning(at: program, limit: length).flatMap { path(in: $0[...]) }
  }

  /// Returns the interpreter's path in the first bytes of a script.
  static func path(in bytes: ArraySlice<UInt8>) -> String? {
    guard bytes.starts(with: "#!".utf8) else { return nil }
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    let line = bytes.dropFirst(2).prefix { $0 != 0x0A && $0 != 0 }
    let word = line.drop(while: isBlank).prefix { !isBlank($0) }
    return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
  }
}
