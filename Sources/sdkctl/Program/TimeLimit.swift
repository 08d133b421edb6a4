import Glibc
import SDKProtocol

/// The time limit of an endless command, such as `events --follow`, by `--timeout`.
enum TimeLimit {
  /// Ends the process with status 75 after the time that the command line gives; does nothing when it gives none.
  ///
  /// Only for commands that write each line at once: buffered output would be lost.
  static func arm(_ context: CommandContext) {
    guard let limit = context.timeout?.duration else { return }
    let failure = CommandFailure(message: "The time given with --timeout is over.", reason: "timeout", status: 75)
    let lines = context.presenter.isForPeople ? failure.lines : [failure.jsonText]
    Task.detached {
      try await Task.sleep(for: limit)
      for line in lines { try? Output.standardError.line(line) }
      _exit(failure.status)
    }
  }
}
