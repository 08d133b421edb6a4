import Glibc
import JSONRPC
import Linux
import SDKProtocol

/// What a support bundle says of the machine: versions, load, limits and the sizes of files.
enum BundleMachine {
  /// The time limit of a program.
  private static let patience = Duration.seconds(10)
  /// The number of files that are listed of a directory.
  private static let mostFiles = 200
  /// The packages whose versions matter.
  private static let packages = [
    "sdkd", "sdk-sandbox", "python3-sdkd", "golang-sdkd-dev", "libc6", "libsystemd0", "libsqlite3-0",
    "ca-certificates", "curl",
  ]

  static func failure(_ message: String) -> CommandFailure {
    CommandFailure(message: message, reason: "failing", status: 1)
  }

  /// Returns the failure of a program that has ended without a result.
  static func failure(_ program: String, _ ended: ChildProcess.Ended) -> CommandFailure {
    let complaint = ended.errors.split(separator: "\n").first.map { ": \($0)" } ?? "."
    return failure("\(program) ended with \(ended.status)\(complaint)")
  }

  /// Runs a program to its end, with a time limit.
  static func run(_ words: [String]) throws -> ChildProcess.Ended {
    do throws(ChildProcess.Failure) {
      return try ChildProcess.run(words, until: .now + patience)
    } catch {
      throw failure("\(words.first ?? "") can't be run: \(error.description).")
    }
  }

  /// Returns what a program prints, with its complaints at the end.
  ///
  /// - Throws: `CommandFailure` when it can't be run, does not end in time, or prints nothing.
  static func output(of words: [String], isEmptyAllowed: Bool = false) throws -> String {
    let ended = try run(words)
    guard !ended.output.isEmpty || isEmptyAllowed else { throw failure(words.first ?? "", ended) }
    return [ended.output, ended.errors].filter { !$0.isEmpty }.joined(separator: "\n")
  }

  /// The versions of sdkd, its packages and what it runs on.
  static var versions: String {
    func line(_ name: String, _ words: String...) -> String {
      do { return "\(name): \(try output(of: words).split(separator: "\n").first ?? "")" } catch {
        return "\(name): not known: \(CommandFailure(error)?.message ?? "")"
      }
    }
    let release = BoundedFile.text(at: "/etc/os-release", limit: 8192) ?? ""
    let name = release.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
    let dpkg = ["dpkg-query", "-W", "-f", "package: ${Package} ${Version} (${db:Status-Abbrev})\n"] + packages
    // The complaints are about packages that are not there.
    let installed = (try? run(dpkg))?.output ?? "package: dpkg-query can't be run"
    return [
      "sdkctl: \(SDKVersion.program)", line("sdkd", ChildProgram.daemon, "--version"),
      "system: \(name?.dropFirst("PRETTY_NAME=".count) ?? "not known")", line("kernel", "uname", "-srvm"),
      line("systemd", "systemctl", "--version"), line("virtualization", "systemd-detect-virt"), installed,
    ].joined(separator: "\n")
  }

  /// The load and the memory of the machine.
  static var load: String {
    func text(_ name: String, lines: Int) -> [String] {
      let text = BoundedFile.text(at: "/proc/\(name)", limit: 8192) ?? "can't be read"
      return text.split(separator: "\n").prefix(lines).map { "\(name): \($0)" }
    }
    return (text("uptime", lines: 1) + text("loadavg", lines: 1) + text("meminfo", lines: 3)).joined(separator: "\n")
  }

  /// Returns the settings of the configuration file. What `sdkd` finds wrong is among them, as comments.
  static func configuration(_ place: DaemonPlace) throws -> String {
    guard let file = place.configuration else {
      throw failure("Only an admin is told which files the daemon reads.")
    }
    let ended = try run([ChildProgram.daemon, "--show-config", "--config", file])
    // One setting in each line, so that of many the first ones are shown. With mistakes there are these in place of it.
    let settings = (try? JSONParser.parse(ended.output))?.arrayValue?.map { JSONWriter.text(of: $0) }
    return (["# \(file)"] + (settings ?? [ended.errors])).joined(separator: "\n")
  }

  /// Returns the limits of the daemon's process, its memory and its threads.
  static func limits(of process: Int?) throws -> String {
    guard let process else { throw failure("The daemon's process is not known.") }
    guard let limits = BoundedFile.text(at: "/proc/\(process)/limits", limit: 8192) else {
      throw failure("/proc/\(process)/limits can't be read: \(SystemCallError.text(of: errno)).")
    }
    let status = BoundedFile.text(at: "/proc/\(process)/status", limit: 8192) ?? ""
    let names = ["VmPeak:", "VmRSS:", "VmSwap:", "Threads:"]
    let figures = status.split(separator: "\n").filter { line in names.contains { line.hasPrefix($0) } }
    return limits + figures.joined(separator: "\n")
  }

  /// Returns the names, sizes, owners and modes of the files of the state and of the backups. Their contents stay out.
  static func files(_ state: String?) throws -> String {
    guard let state else { throw failure("Only an admin is told where the daemon keeps its state.") }
    guard let names = names(in: state) else {
      throw failure("\(state) can't be read: \(SystemCallError.text(of: errno)).")
    }
    let backups = (Self.names(in: "\(state)/backups") ?? []).map { "backups/\($0)" }
    return (["."] + names + backups).map { line("\(state)/\($0)", name: $0) }.joined(separator: "\n")
  }

  /// Returns the names in a directory, sorted; `nil` with `errno` if it can't be read.
  private static func names(in path: String) -> [String]? {
    guard let directory = opendir(path) else { return nil }
    defer { closedir(directory) }
    var names: [String] = []
    while names.count < mostFiles, let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  private static func line(_ path: String, name: String) -> String {
    var status = stat()
    guard lstat(path, &status) == 0 else { return "\(name): \(SystemCallError.text(of: errno))" }
    let mode = String(status.st_mode & 0o7777, radix: 8)
    let changed = Timestamp(secondsSince1970: Double(status.st_mtim.tv_sec))
    return "\(mode) \(status.st_uid):\(status.st_gid) \(status.st_size) \(changed) \(name)"
  }
}
