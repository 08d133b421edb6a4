import ArgumentParser
import JSONRPC
import SDKProtocol

/// How long a token must live, and what happens when the daemon has only one that lives shorter.
struct TokenLifetime: ParsableArguments {
  @Option(
    name: .customLong("min-ttl"),
    help: "How long the token must live at least, such as 10s or 5m. A shorter one comes with a warning.")
  var minTTL: Seconds?

  @Flag(help: "Fail with status 75 when the token lives shorter than --min-ttl.")
  var strict = false

  private static let reason = "shortLived"

  func validate() throws {
    if strict, minTTL == nil { throw ValidationError("--strict goes with --min-ttl.") }
  }

  /// Checks a token of the daemon, the member `token` of a result or the result itself.
  ///
  /// - Throws: `CommandFailure` with `--strict` when the token lives too short; otherwise standard error says so.
  func check(_ token: JSON?, in context: CommandContext) throws {
    guard let problem = problem(with: token) else { return }
    guard strict else {
      let line =
        context.presenter.isForPeople
        ? "sdkctl: warning: \(problem)"
        : JSONWriter.text(of: ["warning": .string(problem), "reason": .string(Self.reason)])
      return try context.errors.line(line)
    }
    throw CommandFailure(message: problem, reason: Self.reason, status: 75)
  }

  /// Why a token does not live as long as it must; `nil` when it does, or when its end is unknown.
  func problem(with token: JSON?) -> String? {
    guard let minTTL, let ttl = token?["ttl"]?.doubleValue, ttl < minTTL.value else { return nil }
    let lives =
      "The token lives \(Elapsed.text(seconds: ttl)), shorter than --min-ttl \(Elapsed.text(seconds: minTTL.value))"
    return token?["stale"]?.boolValue == true
      ? "\(lives), and can't be renewed now. See its last error: sdkctl show." : "\(lives): new tokens live no longer."
  }
}
