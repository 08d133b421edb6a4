import Foundation
import Subprocess
import SystemPackage

/// A Debian container booted with systemd, with the package installed, for one test.
///
/// Its files are an in-memory overlay over a root that no test changes (made by `Packaging/system-root`). Its network
/// is a loopback of its own. `/opt/sdkd-debug` has the programs built with the tests, for features of debug builds.
struct Machine: Sendable {
  /// A command or a machine that failed.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// A command that has ended.
  struct Ended: Sendable {
    /// The exit status, or 128 + the signal.
    let status: Int32
    /// The standard output.
    let output: String
    /// The standard error.
    let error: String
  }

  /// The process ID of the machine's first process, as seen from the host.
  let leader: Int32

  /// Boots a machine, runs `body` with it and ends it.
  ///
  /// - Parameters:
  ///   - root: the path of the Debian root.
  ///   - options: further arguments of `systemd-nspawn(1)`, such as `--set-credential=`.
  static func with<Result: Sendable>(
    root: String = MachineRoot.path, options: [String] = [],
    _ body: @escaping @Sendable (Machine) async throws -> Result
  ) async throws -> Result {
    await MachineGate.shared.enter()
    do {
      let result = try await booted(root, options, body)
      await MachineGate.shared.leave()
      return result
    } catch {
      await MachineGate.shared.leave()
      throw error
    }
  }

  private static func booted<Result: Sendable>(
    _ root: String, _ options: [String], _ body: @escaping @Sendable (Machine) async throws -> Result
  ) async throws -> Result {
    guard FileManager.default.fileExists(atPath: root + "/usr/bin/sdkd") else {
      throw Failure(description: "There is no root with the package in \(root); Packaging/system-root makes it.")
    }
    let name = "sdkd-" + UUID().uuidString.prefix(8).lowercased()
    let console = FileManager.default.temporaryDirectory.appendingPathComponent("\(name).log").path
    defer { unlink(console) }
    let log = try FileDescriptor.open(
      FilePath(console), .writeOnly, options: [.create, .append], permissions: [.ownerReadWrite])
    defer { try? log.close() }
    let arguments =
      [
        "--directory=\(root)", "--volatile=overlay", "--register=no", "--keep-unit", "--private-network",
        "--console=pipe", "--machine=\(name)", "--bind-ro=\(MachineRoot.programs):/opt/sdkd-debug",
        // Without this a container may lock no memory; on a real machine any program may.
        "--capability=CAP_IPC_LOCK",
      ] + (MachineRoot.swiftRuntime.map { ["--bind-ro=\($0)"] } ?? []) + options + ["--boot"]
    let groups = MachineGroups(name: name)
    defer { groups.remove() }
    let ended = try await Subprocess.run(
      .path("/bin/sh"), arguments: Arguments(groups.entering(["/usr/bin/systemd-nspawn"] + arguments)), input: .none,
      output: .fileDescriptor(log, closeAfterSpawningProcess: false),
      error: .fileDescriptor(log, closeAfterSpawningProcess: false)
    ) { container in
      let nspawn = container.processIdentifier.value
      // End the container, and with it every process inside, even after an error.
      defer { if let leader = child(of: nspawn) { kill(leader, SIGKILL) } else { kill(nspawn, SIGTERM) } }
      let machine = try await started(nspawn, console)
      return try await body(machine)
    }
    return ended.closureResult
  }

  private static func started(_ nspawn: Int32, _ console: String) async throws -> Machine {
    let end = ContinuousClock.now + .seconds(90)
    while ContinuousClock.now < end {
      if let leader = child(of: nspawn) {
        let machine = Machine(leader: leader)
        let state = try? await machine.run(["systemctl", "is-system-running", "--wait"], within: 60)
        if let state, ["running\n", "degraded\n"].contains(state.output) { return machine }
      }
      try await Task.sleep(for: .milliseconds(50))
    }
    let said = (try? String(contentsOfFile: console, encoding: .utf8)) ?? ""
    throw Failure(description: "The machine does not boot:\n\(said.suffix(4000))")
  }

  /// Returns the first child of a process.
  static func child(of pid: Int32) -> Int32? {
    guard let text = try? String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8) else {
      return nil
    }
    return text.split(separator: " ").first.flatMap { Int32($0) }
  }

  /// Runs a program as root, outside of any unit. A test that needs a unit uses `systemd-run`.
  ///
  /// - Parameter seconds: the time after which the program is killed; its status is then 124 or 137.
  func run(_ command: [String], input: String = "", within seconds: Int = 120) async throws -> Ended {
    try await Self.run(
      ["/usr/bin/nsenter", "--target", String(leader), "--all", "--"] + command,
      environment: ["HOME": "/root"], input: input, within: seconds)
  }

  /// Runs a program on the host.
  ///
  /// - Parameters:
  ///   - environment: variables beside `PATH` and `LANG`, or in place of them.
  ///   - seconds: the time after which the program is killed; its status is then 124 or 137.
  static func run(
    _ command: [String], environment: [String: String] = [:], input: String = "", within seconds: Int = 120
  ) async throws -> Ended {
    let limit = 16 << 20
    var variables: [Environment.Key: String] = [
      "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
    ]
    for (name, value) in environment { variables[Environment.Key(stringLiteral: name)] = value }
    let record = try await Subprocess.run(
      .path("/usr/bin/timeout"), arguments: Arguments(["--kill-after=5", String(seconds)] + command),
      environment: .custom(variables),
      input: .string(input), output: .string(limit: limit), error: .string(limit: limit))
    return Ended(
      status: Self.exitStatus(record.terminationStatus), output: record.standardOutput, error: record.standardError)
  }

  /// Returns the exit status of a program, or 128 + the signal that ended it.
  static func exitStatus(_ status: TerminationStatus) -> Int32 {
    switch status {
    case .exited(let code): code
    case .signaled(let signal): 128 + signal
    }
  }

  /// Runs a shell script as root, with `set -eu` and `pipefail`.
  ///
  /// - Throws: `Failure` when the script does not end with status 0.
  @discardableResult func sh(_ script: String, input: String = "", within seconds: Int = 120) async throws -> Ended {
    let ended = try await run(["bash", "-euo", "pipefail", "-c", script], input: input, within: seconds)
    guard ended.status == 0 else {
      throw Failure(
        description: "\(script)\nended with \(ended.status):\n\(ended.output.suffix(4000))\(ended.error.suffix(4000))")
    }
    return ended
  }

  /// Runs a shell script every 50 ms until it succeeds; fails after `seconds`.
  func eventually(_ what: String, within seconds: Int = 30, _ script: String) async throws {
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      let ended = try await run(["bash", "-euo", "pipefail", "-c", script])
      if ended.status == 0 { return }
      guard ContinuousClock.now < end else {
        throw Failure(description: "gave up waiting until \(what): \(ended.output.suffix(2000))\(ended.error)")
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }
}
