import Glibc

/// The check that the daemon's user owns its state and may write it, which root can't notice by reading it.
struct StateFilesCheck {
  let place: DaemonPlace

  /// The finding; `nil` if the directory is not known, can't be read, or has nothing wrong.
  var finding: Finding? {
    var directory = stat()
    guard let state = place.state, stat(state, &directory) == 0, let names = Self.names(in: state) else { return nil }
    var foreign: [String] = []
    var closed: [String] = []
    for path in [state] + names.map({ "\(state)/\($0)" }) {
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      let needed: mode_t = status.st_mode & S_IFMT == S_IFDIR ? 0o700 : 0o600
      if status.st_uid != directory.st_uid { foreign.append(path) }
      if status.st_mode & needed != needed { closed.append(path) }
    }
    if let first = foreign.first {
      return Finding(
        .failing, "state", "\(first) belongs to another user than \(state), so the daemon can't use it.",
        advice: "chown --reference=\(state) \(foreign.joined(separator: " "))")
    }
    guard let first = closed.first else { return nil }
    return Finding(
      .failing, "state", "The daemon can't write \(first), because its mode forbids that.",
      advice: "chmod u+rwX \(closed.joined(separator: " "))")
  }

  /// Returns the names of the database's files and of the backups' folder that exist; `nil` if they can't be listed.
  private static func names(in state: String) -> [String]? {
    guard access(state, R_OK | X_OK) == 0 || errno != EACCES else { return nil }
    return ["state.db", "state.db-wal", "state.db-shm", "backups", "root.key"].filter { name in
      var status = stat()
      return lstat("\(state)/\(name)", &status) == 0
    }
  }
}

/// The check of the descriptors that the daemon may have open, of which each connection takes one.
enum DescriptorCheck {
  /// The limit below which a daemon with its default settings runs out.
  private static let enough = 4096

  /// Returns the finding about the limit of the daemon's process, or of its unit, which counts at the next start; `nil`
  /// if no limit is known or all are enough.
  ///
  /// - Parameter process: the daemon's process; `nil` for a daemon that does not run or does not answer.
  static func finding(process: Int?, unit: Int?, _ place: DaemonPlace) -> Finding? {
    guard let limit = [process.flatMap(Self.limit), unit].compactMap(\.self).min(), limit < enough else { return nil }
    return Finding(
      process == nil ? .failing : .warning, "descriptors",
      "The daemon may open \(limit) files. Each connection takes one, and each provider several.",
      advice: place.unit.map {
        "remove LimitNOFILE= from the drop-ins that systemctl cat \($0).service shows; systemctl daemon-reload; "
          + place.systemctl("restart", "service", byHand: "")
      } ?? "raise it before the start: ulimit -n 65536")
  }

  /// Returns the soft limit of a process.
  private static func limit(of process: Int) -> Int? {
    guard let file = fopen("/proc/\(process)/limits", "re") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      guard text.hasPrefix("Max open files") else { continue }
      return text.dropFirst("Max open files".count).split(separator: " ").first.flatMap { Int($0) }
    }
    return nil
  }
}
