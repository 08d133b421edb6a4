import ArgumentParser
import JSONRPC
import SDKProtocol

/// The required lifetime of a token, and the reaction to a shorter one.
struct TokenLifetime: ParsableArguments {
  @Option(
    name: .customLong("min-ttl"),
    help: ArgumentHelp(
      "How long the token must live at least, such as 10s or 5m. A shorter one comes with a warning.",
      valueName: "duration"))
  var minTTL: Seconds?

  @Flag(help: "Fail with status 75 when the token lives shorter than --min-ttl.")
  var strict = false

  init() {}

  /// Takes these options from a plain command line.
  init(plain line: inout PlainLine) {
    minTTL = line.value("--min-ttl")
    strict = line.flag("--strict")
    line.check(self)
  }

  /// Returns the params of a call that gets such a token.
  func tokenParams(
    _ id: InstanceID, _ service: String?, timeout: Seconds? = nil, http: Bool? = nil
  ) -> TokenGet.Params {
    TokenGet.Params(instance: id, service: service, minTTL: minTTL, timeout: timeout, http: http)
  }

  /// Returns the params of a call that opens a session with such a token.
  func sessionParams(_ id: InstanceID, _ service: String?, timeout: Seconds?) -> SessionOpen.Params {
    SessionOpen.Params(instance: id, service: service, minTTL: minTTL, timeout: timeout)
  }

  /// The rules of a file that is kept with such tokens.
  var fileRules: TokenFileRules { TokenFileRules(minTTL: minTTL?.value ?? 0, isStrict: strict) }

  private static let reason = "shortLived"

  func validate() throws {
    if strict, minTTL == nil { throw ValidationError("--strict goes with --min-ttl.") }
  }

  /// Checks the lifetime of a token: the member `token` of a result, or the result itself.
  ///
  /// - Throws: `CommandFailure` with `--strict` when the lifetime is too short. Otherwise a warning goes to standard
  ///   error.
  func check(_ token: JSON?, in context: CommandContext) throws {
    guard let problem = problem(with: token) else { return }
    guard strict else {
      if context.presenter.isForPeople { return try context.errors.wrapped(line: "sdkctl: warning: \(problem)") }
      return try context.errors.line(
        JSONWriter.text(of: ["warning": .string(problem), "reason": .string(Self.reason)]))
    }
    throw CommandFailure(message: problem, reason: Self.reason, status: 75)
  }

  /// Returns why a token's lifetime is too short; `nil` when it suffices or is unknown.
  func problem(with token: JSON?) -> String? {
    guard let minTTL, let ttl = token?["ttl"]?.doubleValue, ttl < minTTL.value else { return nil }
    let lives =
      "The token lives \(Elapsed.text(seconds: ttl)), shorter than --min-ttl \(Elapsed.text(seconds: minTTL.value))"
    return token?["stale"]?.boolValue == true
      ? "\(lives), and could not be renewed. sdkctl show has the last error, if there was one."
      : "\(lives): new tokens live no longer."
  }
}
