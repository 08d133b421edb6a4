import Glibc
import Linux
import SDKInstances

/// The files of a configuration: the main one, the drop-ins in a directory named after it with `.d`, and those of the
/// instances, in `instances.d` beside it.
struct ConfigurationFiles: Sendable {
  /// The main file.
  let main: String

  /// The largest file that is read.
  static let maximumBytes = 1 << 20
  /// The largest number of drop-ins.
  static let maximumDropIns = 64
  /// The largest number of instances' files.
  static let maximumInstances = 65_536

  /// The directory of the drop-ins.
  var dropInDirectory: String { "\(main).d" }

  /// The directory of the instances' files.
  var instancesDirectory: String {
    guard let slash = main.lastIndex(of: "/") else { return "instances.d" }
    return String(main[...slash]) + "instances.d"
  }

  /// Returns the paths of the instances' files, as `paths(in:atMost:_:)` does.
  func instancePaths(_ log: MistakeLog) -> [String] {
    paths(in: instancesDirectory, atMost: Self.maximumInstances, log)
  }

  /// Returns the paths of the files in a directory, sorted by their bytes. Skips hidden files and those without the
  /// suffix `.toml`. Returns none, with a mistake in `log`, when the directory can't be used.
  private func paths(in path: String, atMost limit: Int, _ log: MistakeLog) -> [String] {
    guard let directory = opendir(path) else {
      let error = errno
      if error != ENOENT {
        let why = SystemCallError.text(of: error)
        log.add(nil, "The directory can't be read: \(why).\(Self.cure(of: error, path) ?? "")")
      }
      return []
    }
    defer { closedir(directory) }
    var status = stat()
    if fstat(dirfd(directory), &status) == 0, status.st_mode & S_IWOTH != 0 {
      log.add(nil, "The directory can be written by everyone; take that away with chmod o-w.")
      return []
    }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(directory) else { break }
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard name.hasSuffix(".toml"), !name.hasPrefix(".") else { continue }
      guard names.count < limit else {
        log.add(nil, "The directory has more than \(limit) files NAME.toml.")
        return []
      }
      names.append(name)
    }
    // Fewer files would mean other settings, and the end of instances.
    guard errno == 0 else {
      log.add(nil, "The directory can't be read to its end: \(SystemCallError.text(of: errno)).")
      return []
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { "\(path)/\($0)" }
  }

  /// Reads the main file and the drop-ins, and merges them. A file that can't be read is left out, with a mistake. The
  /// main file may be absent.
  ///
  /// - Parameter listed: the log of the directory.
  /// - Returns: the settings, and the log of each file.
  func settings(_ listed: MistakeLog) -> (settings: MergedSettings, logs: [MistakeLog]) {
    var settings = MergedSettings()
    var logs: [MistakeLog] = []
    for path in [main] + paths(in: dropInDirectory, atMost: Self.maximumDropIns, listed) {
      let log = MistakeLog(file: path)
      logs.append(log)
      if let content = document(path, log, absenceIsFine: path == main) { settings.merge(content.document.root, log) }
    }
    return (settings, logs)
  }

  /// Reads an instance's file, with its mode bits. Returns `nil`, with a mistake in `log`, when the file can't be used.
  func instanceDocument(_ path: String, _ log: MistakeLog) -> (document: TOMLDocument, mode: FileMode)? {
    document(path, log, absenceIsFine: false)
  }

  private func document(
    _ path: String, _ log: MistakeLog, absenceIsFine: Bool
  ) -> (document: TOMLDocument, mode: FileMode)? {
    let content: BoundedFile
    do throws(FileProblem) {
      content = try BoundedFile(reading: path, limit: Self.maximumBytes)
    } catch {
      if case .system(ENOENT) = error, absenceIsFine { return nil }
      var cure: String?
      if case .system(let number) = error { cure = Self.cure(of: number, path) }
      log.add(nil, "The file \(error).\(cure ?? "")")
      return nil
    }
    if content.mode.isWritableByAnyone {
      log.add(nil, "The file can be written by everyone; take that away with chmod o-w.")
      return nil
    }
    do throws(TOMLSyntaxProblem) {
      let document = try TOMLDocument(bytes: content.bytes)
      log.lines = document.lines
      return (document, content.mode)
    } catch {
      log.add(line: error.line, error.message)
      return nil
    }
  }

  /// Returns a sentence with the command that lets this process read a file or directory; `nil` if rights are not what
  /// is missing.
  private static func cure(of error: Int32, _ path: String) -> String? {
    guard error == EACCES else { return nil }
    // The cause is the outermost directory that can't be entered; without one, it is the file itself.
    var closed = path
    var parent = Directories.parent(of: path)
    while parent != "/", parent != "." {
      if access(parent, X_OK) != 0 { closed = parent }
      parent = Directories.parent(of: parent)
    }
    var status = stat()
    let isDirectory = closed != path || lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    let group = getgrgid(getegid()).map { String(cString: $0.pointee.gr_name) } ?? "\(getegid())"
    return " Let the daemon read it: chgrp \(group) \(closed); chmod \(isDirectory ? "g+rx" : "g+r") \(closed)"
  }
}
