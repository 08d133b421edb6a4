import Foundation
import Glibc
import JSONRPC

/// A third-party program, as its Debian package installs it.
enum Counterpart {
  /// The folder of the scripts that set counterparts up.
  private static let scripts = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Programs")

  /// Returns the path of a script of this folder.
  static func script(_ name: String) -> String { scripts.appendingPathComponent(name).path }

  /// Checks that a package's file is there.
  ///
  /// - Returns: the path.
  /// - Throws: the name of the package to install.
  @discardableResult
  static func require(_ path: String, package: String) throws -> String {
    guard FileManager.default.fileExists(atPath: path) else {
      throw Program.Failure(
        description: "\(path) is missing. Install the Debian package \(package): apt-get install \(package)")
    }
    return path
  }

  /// Returns the path of a file of a package from PyPI, which `Packaging/test Counterparts` installs.
  ///
  /// - Throws: the name of the package to install.
  static func pythonPackage(_ path: String, package: String) throws -> String {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent(".build/counterparts")
    let file = folder.appendingPathComponent(path).path
    guard FileManager.default.fileExists(atPath: file) else {
      throw Program.Failure(
        description:
          "\(file) is missing. Install the package: python3 -m pip install --target \(folder.path) \(package)")
    }
    return file
  }

  /// Runs a program to its end.
  ///
  /// - Returns: the exit status and the output, standard error included.
  static func run(
    _ path: String, _ arguments: [String], in desk: Desk, environment: [String: String] = [:], input: URL? = nil,
    within seconds: Double = 60
  ) throws -> (status: Int32, output: String) {
    let output = desk.folder.appendingPathComponent("run-\(UUID().uuidString)")
    let descriptor = input.map { open($0.path, O_RDONLY | O_CLOEXEC) }
    defer { if let descriptor { close(descriptor) } }
    let program = try Program(
      path, arguments, environment: environment, output: output, log: output, input: descriptor)
    guard let status = program.exit(within: seconds) else {
      throw Program.Failure(description: "\(path) did not end: \(program.logText)")
    }
    return (status, program.logText)
  }
}

/// A server with commands on standard input and lines of JSON on standard output. It ends when its input does.
final class PipedProgram {
  private let program: Program
  private let output: URL
  private let input: Int32

  init(_ path: String, _ arguments: [String], in folder: URL) throws {
    output = folder.appendingPathComponent("piped-\(UUID().uuidString)")
    var ends: [Int32] = [-1, -1]
    // No child may inherit the end for writing, or the server would outlive its commands.
    let status = Program.noFileIsBeingWritten.withLock {
      pipe(&ends) == 0 && ends.allSatisfy { fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }
    }
    guard status else { throw Program.Failure(description: "no pipe") }
    input = ends[1]
    defer { close(ends[0]) }
    program = try Program(
      path, arguments, output: output, log: output.appendingPathExtension("err"), input: ends[0])
  }

  deinit { close(input) }

  /// The complete lines of the output.
  var lines: [String] {
    let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  func waitForLine(_ line: String) throws { try wait("\(line) is written") { lines.contains(line) } }

  /// Waits until the output has this many lines. The program may then have ended.
  func waitForLines(_ count: Int) throws { try wait("\(count) lines are written") { lines.count >= count } }

  private func wait(_ what: String, _ condition: () -> Bool) throws {
    try eventually(what, within: 60) {
      // The order matters: what an ended program wrote is there.
      let status = program.exit(within: 0)
      if condition() { return true }
      guard let status else { return false }
      throw Program.Failure(description: "the program ended with \(status): \(program.logText)")
    }
  }

  func send(_ command: JSON) {
    let bytes = JSONWriter.bytes(of: command) + [10]
    _ = write(input, bytes, bytes.count)
  }

  /// Kills the server.
  func kill() {
    program.signal(SIGKILL)
    _ = program.exit(within: 10)
  }
}

extension Desk {
  /// Kills the daemon.
  func killDaemon() {
    daemon?.signal(SIGKILL)
    _ = daemon?.exit(within: 10)
  }
}
