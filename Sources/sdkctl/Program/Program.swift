import ArgumentParser
import Glibc
import SDKClient

/// The entry point of the process: turns arguments into an exit status.
@main
enum Program {
  static func main() async {
    // A reader that ends early (`| head`) is noticed when writing fails.
    signal(SIGPIPE, SIG_IGN)
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
    do {
      let command = try await CommandRoot.asyncParseAsRoot(arguments)
      guard let verb = command as? any Verb else {
        // `help` and other commands of the parser, which throw the text to print.
        var command = command
        try command.run()
        return 0
      }
      try await verb.run(in: CommandContext(verb.global, output, errors, input, connector))
      return 0
    } catch is BrokenPipe {
      return 0
    } catch {
      return report(error, arguments, output, errors)
    }
  }

  private static func report(
    _ error: any Error, _ arguments: [String], _ output: Output, _ errors: Output
  ) -> Int32 {
    let failure: CommandFailure
    if let known = CommandFailure(error) {
      failure = known
    } else if CommandRoot.exitCode(for: error).isSuccess {
      // --help and --version.
      try? output.text(CommandRoot.fullMessage(for: error) + "\n")
      return 0
    } else {
      failure = .usage(CommandRoot.message(for: error), hints: [CommandLineOrder.helpHint(arguments)])
    }
    let isJSON = CommandLineOrder.asksForJSON(arguments)
    for line in isJSON ? [failure.jsonText] : failure.lines { try? errors.line(line) }
    return failure.status
  }
}
