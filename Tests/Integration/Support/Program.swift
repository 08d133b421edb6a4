import Foundation
import Glibc

/// A running program, of this package unless given by its path. Its standard error goes to a file, and `deinit` kills
/// it.
final class Program: @unchecked Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let pid: pid_t
  let log: URL
  private let lock = NSLock()
  private var status: Int32?

  /// A lock that is held while a file is written and while a process starts. Between fork and exec a child has every
  /// open file, so a script that is being written would be busy for its next caller.
  static let noFileIsBeingWritten = NSLock()

  /// `SOCK_STREAM | SOCK_CLOEXEC`: the names in the module Glibc are not visible where libsystemd's module is.
  static let streamSocket: Int32 = 1 | 0o2_000_000

  /// The folder of the built programs: `SDKD_TEST_BIN`, or the folder of the test runner, or `.build/debug`.
  static let directory: URL = {
    if let given = ProcessInfo.processInfo.environment["SDKD_TEST_BIN"] { return URL(fileURLWithPath: given) }
    let runner = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    if FileManager.default.isExecutableFile(atPath: runner.appendingPathComponent("sdkd").path) { return runner }
    return URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".build/debug")
  }()

  static func path(_ name: String) -> String {
    name.hasPrefix("/") ? name : directory.appendingPathComponent(name).path
  }

  /// - Parameter descriptors: what the program gets as the descriptors from 3 on.
  init(
    _ name: String, _ arguments: [String], environment: [String: String] = [:], output: URL, log: URL,
    input: Int32? = nil, passing descriptors: [Int32] = []
  ) throws {
    self.log = log
    // Above the numbers from 3 on that they get, so that none replaces another.
    let passed = descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, 100) }
    defer { for descriptor in passed { close(descriptor) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input {
      posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    let flags = O_WRONLY | O_CREAT | O_APPEND
    posix_spawn_file_actions_addopen(&actions, 1, output.path, flags, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, log.path, flags, 0o600)
    for (index, descriptor) in passed.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(3 + index))
    }
    var variables = ProcessInfo.processInfo.environment
    for name in ["SDKD_SOCKET", "NOTIFY_SOCKET", "JOURNAL_STREAM", "LISTEN_FDS"] { variables[name] = nil }
    variables.merge(environment) { _, new in new }
    // The threads of tests block signals, and a child would inherit that.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let argv = ([Program.path(name)] + arguments).map { strdup($0) } + [nil]
    let envp = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in argv + envp { free(text) } }
    var pid: pid_t = 0
    let error = Program.noFileIsBeingWritten.withLock {
      posix_spawn(&pid, Program.path(name), &actions, &attributes, argv, envp)
    }
    guard error == 0 else {
      throw Failure(description: "\(name) can't be started: \(String(cString: strerror(error)))")
    }
    self.pid = pid
  }

  deinit {
    signal(SIGKILL)
    _ = exit(within: 5)
  }

  func signal(_ number: Int32) {
    lock.withLock { if status == nil { _ = kill(pid, number) } }
  }

  /// Waits for the end. Returns the exit status, or 128 + the signal; `nil` when the program runs longer.
  func exit(within seconds: Double) -> Int32? {
    let end = Date().addingTimeInterval(seconds)
    repeat {
      let done: Int32? = lock.withLock {
        if let status { return status }
        var raw: Int32 = 0
        guard waitpid(pid, &raw, WNOHANG) == pid else { return nil }
        status = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + (raw & 0x7F)
        return status
      }
      if let done { return done }
      usleep(5_000)
    } while Date() < end
    return nil
  }

  var logText: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }
}

/// Checks a condition repeatedly until it holds. Throws when it does not hold in time.
func eventually(_ what: String, within seconds: Double = 15, _ condition: () throws -> Bool) throws {
  let end = Date().addingTimeInterval(seconds)
  while try !condition() {
    guard Date() < end else { throw Program.Failure(description: "gave up waiting until \(what)") }
    usleep(5_000)
  }
}
