import ArgumentParser
import Glibc
import JSONRPC
import Linux
import SDKProtocol

/// `sdkctl exec ID -- CMD…`: runs a program with a valid token in its environment.
struct ExecVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "exec", abstract: "Run a program with a valid token in its environment.",
    discussion: """
      sdkctl exec front-desk --min-ttl 5m -- ./report. The program takes the place of sdkctl and finds the token in \
      SDKD_TOKEN, its end, where known, in SDKD_TOKEN_EXPIRES_AT and the instance in SDKD_INSTANCE. Whoever may read \
      the environment of your processes can read it there. Exit status, as with env: that of the program; 127: no such \
      program; 126: it can't be run; 125: sdkctl failed, such as without a token, and the message says why.
      """,
    examples: [
      "sdkctl exec desk -- ./report",
      #"sdkctl exec desk --min-ttl 5m --variable TOKEN -- sh -c 'curl -H "Authorization: Bearer $TOKEN" URL'"#,
    ])

  @OptionGroup var target: ServiceArguments

  @Argument(
    parsing: .postTerminator, help: ArgumentHelp("The program and its arguments.", valueName: "command"),
    completion: CompletionSource.programs)
  var command: [String] = []

  @OptionGroup var lifetime: TokenLifetime

  @Option(help: ArgumentHelp("The variable that gets the token.", valueName: "name"))
  var variable = "SDKD_TOKEN"

  @OptionGroup(title: "Global options") var global: GlobalOptions

  /// The reason of a failure to run the program.
  static let reason = "exec"
  /// The exit status of a failure before the program runs, as with env(1). No other can be taken for the program's.
  static let ownFailure: Int32 = 125

  /// Whether a command line is one of this verb.
  static func isNamed(by arguments: [String]) -> Bool { arguments.first == configuration.commandName }

  func validate() throws {
    if command.isEmpty { throw ValidationError("What is to be run stands behind --.") }
    let isName = variable.utf8.allSatisfy { $0 == UInt8(ascii: "_") || Character(UnicodeScalar($0)).isASCIIWord }
    guard isName, let first = variable.utf8.first, !(0x30...0x39).contains(first) else {
      throw ValidationError("The variable's name consists of letters, digits and _.")
    }
  }

  func run(in context: CommandContext) async throws {
    let params = lifetime.tokenParams(target.id, target.service, timeout: global.timeout)
    let token = try await context.ask(TokenGet.self, params, isTimed: true)
    try lifetime.check(token, in: context)
    guard let bare = token["token"]?.stringValue else {
      throw CommandFailure(message: "The daemon's answer has no token.", reason: "badAnswer", status: 1)
    }
    setenv(variable, bare, 1)
    setenv("SDKD_INSTANCE", target.id.name, 1)
    if let end = token["expiresAt"]?.stringValue {
      setenv("SDKD_TOKEN_EXPIRES_AT", end, 1)
    } else {
      unsetenv("SDKD_TOKEN_EXPIRES_AT")
    }
    throw Self.replaceProcess(by: command)
  }

  /// Replaces this process by another program. Returns only on failure.
  private static func replaceProcess(by command: [String]) -> CommandFailure {
    let cause = ProgramStart.replaceProcess(by: command).errorNumber
    return CommandFailure(
      message: "\(command.first ?? "") can't be run: \(SystemCallError.text(of: cause)).", reason: Self.reason,
      status: cause == ENOENT ? 127 : 126)
  }
}

extension Character {
  /// Whether the character is an ASCII letter or digit.
  fileprivate var isASCIIWord: Bool { isASCII && (isLetter || isNumber) }
}
