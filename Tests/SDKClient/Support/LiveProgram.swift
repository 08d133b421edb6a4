import Glibc

/// A running program of this package, which is killed when this object is deinitialized.
final class LiveProgram: Sendable {
  let pid: pid_t
  let log: String

  /// Starts a program. Its standard output and standard error go to the file `log`.
  init(_ name: String, _ arguments: [String], log: String) throws {
    let path = "\(Self.directory)/\(name)"
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    let argv = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for word in argv { free(word) } }
    var pid: pid_t = 0
    let status = posix_spawn(&pid, path, &actions, nil, argv, environ)
    guard status == 0 else { throw NotInTime(description: "\(path): \(String(cString: strerror(status)))") }
    self.pid = pid
    self.log = log
  }

  deinit {
    kill(pid, SIGKILL)
    var status: Int32 = 0
    waitpid(pid, &status, 0)
  }

  /// The program's output, at most the first 64 KiB.
  var text: String {
    let descriptor = open(log, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    let count = read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  /// The directory of the package's programs: `SDKD_TEST_BIN` if set, or else the directory of the test runner.
  private static let directory: String = {
    if let given = getenv("SDKD_TEST_BIN") { return String(cString: given) }
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    let runner = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    let beside = runner.split(separator: "/").dropLast().joined(separator: "/")
    if access("/\(beside)/sdkd", X_OK) == 0 { return "/\(beside)" }
    // Under `swift test` the runner belongs to the toolchain. The programs are then in the build directory.
    return #filePath.split(separator: "/").dropLast(4).reduce("") { "\($0)/\($1)" } + "/.build/debug"
  }()
}
