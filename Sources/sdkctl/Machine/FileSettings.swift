import Glibc
import JSONRPC
import SDKClient

/// The settings that a configuration file and its drop-ins set, as `sdkd` reads them.
struct FileSettings {
  /// The settings, each with `key`, `value`, `file` and `line`.
  let entries: [JSON]

  /// Returns the value of a key; `nil` if no file sets it.
  subscript(key: String) -> JSON? { entries.first { $0["key"]?.stringValue == key }?["value"] }

  init(entries: [JSON]) { self.entries = entries }

  /// Returns the file that a user has named, or that of the daemon at a location.
  ///
  /// For a daemon a missing file is an empty one.
  ///
  /// - Throws: `CommandFailure` when the daemon's file is not known, or there is no file that the user has named.
  static func path(_ file: String?, of location: SocketLocation) throws -> String {
    guard let path = try file ?? DaemonPlace(location).configuration else {
      throw CommandFailure.usage("Say which file: a daemon with a socket of its own can have any.")
    }
    if file != nil, absence(of: path) != nil {
      throw CommandFailure(message: "There is no file \(path).", reason: "configuration", status: 78)
    }
    return path
  }

  /// Returns the sentence about a configuration file that does not exist; `nil` if it exists.
  static func absence(of file: String) -> String? {
    guard access(file, F_OK) != 0 && errno == ENOENT else { return nil }
    let what = access("\(file).d", F_OK) == 0 ? "what \(file).d does not set" : "everything"
    return "There is no \(file); \(what) has its default."
  }

  /// Reads a configuration file with its drop-ins.
  ///
  /// - Throws: `CommandFailure` with the mistakes when a file can't be used, and when `sdkd` can't be run.
  init(of path: String, until deadline: ContinuousClock.Instant? = nil) throws {
    let ended: ChildProcess.Ended
    do {
      ended = try ChildProcess([ChildProgram.daemon, "--show-config", "--config", path]).end(until: deadline)
    } catch {
      throw CommandFailure(message: "sdkd can't be run: \(error.description).", reason: "noProgram", status: 1)
    }
    guard ended.status == 0, let entries = try? JSONParser.parse(ended.output).arrayValue else {
      let isMistaken = ended.status == 78
      throw CommandFailure(
        message: isMistaken ? "The configuration has mistakes." : "sdkd --show-config ended with \(ended.status).",
        reason: isMistaken ? "configuration" : "failed", status: isMistaken ? 78 : 1,
        hints: ended.errors.split(separator: "\n").prefix(100).map(String.init))
    }
    self.entries = entries
  }
}
