import ArgumentParser
import Glibc
import SDKClient

/// The entry point of the process: turns arguments into an exit status.
@main
enum Program {
  static func main() async {
    // A reader that ends early (`| head`) is noticed when writing fails.
    signal(SIGPIPE, SIG_IGN)
    // libdispatch prefers some of its threads by their nice value, and would log for each that only root may do so.
    setenv("LIBDISPATCH_LOG", "NO", 0)
    let arguments = Array(CommandLine.arguments.dropFirst())
    exit(await run(arguments, output: .standardOutput, errors: .standardError))
  }

  /// Runs a command line and returns its exit status.
  ///
  /// - Parameter connector: the connector to the daemon; `nil` for the usual one.
  static func run(
    _ arguments: [String], output: Output, errors: Output, input: Input = .standard,
    connector: SDKConnector? = nil
  ) async -> Int32 {
    let arguments = CommandLineOrder.normalized(arguments)
    var verb: (any Verb)?
    var context: CommandContext?
    do {
      let parsed: any Verb
      if let plain = plainVerb(arguments) {
        parsed = plain
      } else {
        var command: any ParsableCommand
        if let frequent = await frequentVerb(arguments) {
          command = frequent
        } else {
          command = try await CommandRoot.asyncParseAsRoot(arguments)
        }
        guard let verb = command as? any Verb else {
          // `help` and groups of verbs, which throw the text to print.
          try command.run()
          return 0
        }
        parsed = verb
      }
      verb = parsed
      if let host = parsed.global.host, parsed.isLocal {
        throw CommandFailure.usage(
          "This command is about the machine that it runs on, and takes no --host.",
          hints: ["ssh \(host) sdkctl \(CommandLineOrder.withoutHost(arguments).joined(separator: " "))"])
      }
      let made = CommandContext(parsed.global, output, errors, input, connector)
      context = made
      try await parsed.run(in: made)
      return 0
    } catch is BrokenPipe {
      return 0
    } catch {
      if let remote = context?.remote, RemoteHost.isLoss(error), let status = await remote.failureStatus() {
        // ssh, or sdkctl at the other end, has said why.
        return ExecVerb.isNamed(by: arguments) ? ExecVerb.ownFailure : status
      }
      guard var failure = CommandFailure(error) else {
        do { return try reportParsing(error, arguments, output, errors) } catch is BrokenPipe { return 0 } catch {
          return CommandFailure(error).map { report($0, arguments, errors) } ?? 1
        }
      }
      if let verb, let context { await failure.addHints(for: verb, context) }
      return report(failure, arguments, errors)
    }
  }

  /// Reads a plain command line of a verb that scripts run most, without the parser.
  ///
  /// Returns `nil` for every other line.
  private static func plainVerb(_ arguments: [String]) -> (any PlainVerb)? {
    guard let name = arguments.first else { return nil }
    return CommandRoot.plainVerb(name)?.plain(arguments.dropFirst())
  }

  /// Parses a command line whose verb scripts run often. Sets up only that verb, since setting up all verbs takes time.
  ///
  /// Returns `nil` for other verbs and for every line with a mistake, which the parser then reports.
  private static func frequentVerb(_ arguments: [String]) async -> (any ParsableCommand)? {
    guard let name = arguments.first, let verb = CommandRoot.frequentVerb(name) else { return nil }
    return try? await verb.asyncParse(Array(arguments.dropFirst()))
  }

  /// Prints the help or the version, or reports a command line that can't be parsed.
  ///
  /// - Throws: the output's failure.
  private static func reportParsing(
    _ error: any Error, _ arguments: [String], _ output: Output, _ errors: Output
  ) throws -> Int32 {
    guard CommandRoot.exitCode(for: error).isSuccess else {
      let message = CommandRoot.message(for: error)
      return report(UsageMistake.failure(arguments, message: message), arguments, errors)
    }
    let text = CommandRoot.fullMessage(for: error)
    guard text.hasPrefix("OVERVIEW:") || text.hasPrefix("USAGE:") else {
      // --version, the completion scripts and the parser's own description.
      try output.text(text + "\n")
      return 0
    }
    // The parser shows the help of sdkctl for words that it does not know.
    if let failure = UsageMistake.unknownCommand(arguments) { return report(failure, arguments, errors) }
    let words = arguments.prefix { !$0.hasPrefix("-") }
    let page = HelpPage(for: Array(words.first == "help" ? words.dropFirst() : words), width: output.width)
    try output.text(page.text)
    return 0
  }

  private static func report(_ failure: CommandFailure, _ arguments: [String], _ errors: Output) -> Int32 {
    var failure = failure
    if ExecVerb.isNamed(by: arguments), failure.reason != ExecVerb.reason { failure.status = ExecVerb.ownFailure }
    if CommandLineOrder.asksForJSON(arguments) {
      try? errors.line(failure.jsonText)
    } else {
      for line in failure.lines { try? errors.wrapped(line: line) }
    }
    return failure.status
  }
}
