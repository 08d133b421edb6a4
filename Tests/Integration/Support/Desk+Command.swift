import Foundation
import Glibc

extension Desk {
  /// A run of `sdkctl` that has ended.
  struct CommandRun {
    /// The exit status, or 128 + the signal.
    let status: Int32
    let output: String
    let error: String
  }

  /// Runs `sdkctl` to its end with this desk's socket in `SDKD_SOCKET`.
  ///
  /// - Parameters:
  ///   - environment: variables besides.
  ///   - before: a command that runs `sdkctl`, such as unshare.
  ///   - program: the path of a copy of `sdkctl`; `nil` for the built one.
  func sdkctl(
    _ arguments: [String], input: String? = nil, environment: [String: String] = [:], before: [String] = [],
    program: String? = nil
  ) throws -> CommandRun {
    let id = UUID().uuidString
    let (output, log) = (folder.appendingPathComponent("out-\(id)"), folder.appendingPathComponent("err-\(id)"))
    var descriptor: Int32?
    if let input { descriptor = Glibc.open(try write("in-\(id)", input).path, O_RDONLY | O_CLOEXEC) }
    let words = before + [program ?? Program.path("sdkctl")] + arguments
    let program = try Program(
      words[0], Array(words.dropFirst()), environment: ["SDKD_SOCKET": socket].merging(environment) { $1 },
      output: output, log: log, input: descriptor)
    if let descriptor { close(descriptor) }
    guard let status = program.exit(within: 60) else {
      throw Program.Failure(description: "sdkctl \(arguments.joined(separator: " ")) did not end")
    }
    return CommandRun(
      status: status, output: (try? String(contentsOf: output, encoding: .utf8)) ?? "", error: program.logText)
  }
}
