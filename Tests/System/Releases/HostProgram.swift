import Foundation
import Subprocess
import SystemPackage

/// A program on the host that runs while the body of a test does.
struct HostProgram: Sendable {
  /// The process ID.
  let process: Int32
  /// The path of the file with its standard output and standard error.
  private let log: String

  /// Starts a program, runs `body` with it, and ends it with SIGTERM.
  ///
  /// - Returns: the result of `body`, and the exit status, or 128 + the signal.
  static func with<Result: Sendable>(
    _ command: [String], _ body: @escaping @Sendable (HostProgram) async throws -> Result
  ) async throws -> (result: Result, status: Int32) {
    let log = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).log").path
    defer { unlink(log) }
    let file = try FileDescriptor.open(
      FilePath(log), .writeOnly, options: [.create, .append], permissions: [.ownerReadWrite])
    defer { try? file.close() }
    let ended = try await Subprocess.run(
      .path(FilePath(command[0])), arguments: Arguments(Array(command.dropFirst())), input: .none,
      output: .fileDescriptor(file, closeAfterSpawningProcess: false),
      error: .fileDescriptor(file, closeAfterSpawningProcess: false)
    ) { execution in
      let program = HostProgram(process: execution.processIdentifier.value, log: log)
      defer { kill(Machine.child(of: program.process) ?? program.process, SIGTERM) }
      return try await body(program)
    }
    return (ended.closureResult, Machine.exitStatus(ended.terminationStatus))
  }

  /// Waits until the program has printed a match of this expression, and returns the match.
  func printed<Output>(_ expression: Regex<Output>) async throws -> Output {
    let end = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < end {
      let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      if let match = text.firstMatch(of: expression) { return match.output }
      try await Task.sleep(for: .milliseconds(20))
    }
    let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
    throw Machine.Failure(description: "The program has not printed what is expected:\n\(text.suffix(4000))")
  }
}
