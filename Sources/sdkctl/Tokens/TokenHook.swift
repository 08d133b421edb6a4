import Glibc
import Linux
import SDKProtocol

/// The command that runs after each change of a token file, by the shell.
///
/// It gets no token, neither as an argument nor in its environment: `SDKD_INSTANCE` and `SDKD_TOKEN_FILE` say which file
/// has changed, and the file is missing after a removal.
struct TokenHook: Sendable {
  let command: String
  /// The time limit of a run. The command is killed then, with what it has started in its process group.
  var limit = Duration.seconds(30)

  /// Sets the variables of the hook's environment. Must be called before other threads run.
  static func setEnvironment(instance: String, path: String) {
    setenv("SDKD_INSTANCE", instance, 1)
    setenv("SDKD_TOKEN_FILE", path, 1)
  }

  /// Runs the command to its end. Returns a complaint if it failed.
  func run() async -> String? {
    await withCheckedContinuation { continuation in
      do {
        // A wait blocks, and must not hold a thread of Swift's pool.
        try SystemThread.start(name: "hook", stackSize: 256 << 10) { continuation.resume(returning: finish()) }
      } catch {
        continuation.resume(returning: "sdkctl: The hook can't be run: \(error).")
      }
    }
  }

  private func finish() -> String? {
    let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(input) }
    let pid: pid_t
    do {
      pid = try ProgramStart.spawn(
        ["/bin/sh", "-c", command],
        streams: .init(input: max(input, 0), output: STDERR_FILENO, error: STDERR_FILENO), signals: .none,
        newSession: true)
    } catch {
      return "sdkctl: The hook can't be run: \(error)."
    }
    let deadline = ContinuousClock.now + limit
    var status: CInt = 0
    while true {
      let ended = waitpid(pid, &status, WNOHANG)
      if ended == pid { break }
      guard ended == 0 || errno == EINTR else { return "sdkctl: The hook's end was not seen." }
      guard ContinuousClock.now < deadline else {
        kill(-pid, SIGKILL)
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return "sdkctl: The hook did not end within \(Elapsed.text(seconds: limit / .seconds(1))) and was killed."
      }
      poll(nil, 0, 20)
    }
    guard status != 0 else { return nil }
    let signal = status & 0x7F
    return signal == 0
      ? "sdkctl: The hook ended with status \(status >> 8 & 0xFF)." : "sdkctl: The hook was ended by signal \(signal)."
  }
}
