import Glibc
import SDKProtocol

/// The end of a command that has no end of its own, such as `events --follow`, by `--timeout`.
enum TimeLimit {
  /// Ends the process with status 75 after the time that the command line gives; does nothing when it gives none.
  ///
  /// For commands that hold nothing back: every line is out already when it is written.
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
