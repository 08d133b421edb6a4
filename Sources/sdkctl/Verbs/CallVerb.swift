import ArgumentParser
import JSONRPC
import SDKClient
import SDKProtocol

/// `sdkctl call METHOD [PARAMS]`: calls any method by its name.
struct CallVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "call", abstract: "Call a method by its name and print its result.",
    discussion: "sdkctl call rpc.discover lists the methods. Params that hold secrets are read from standard input: -.",
    examples: [
      "sdkctl call daemon.info",
      #"sdkctl call instance.get '{"instance": "desk"}'"#,
      "sdkctl call messaging.loginUser - < params.json",
    ])

  @Argument(help: "The method.", completion: CompletionSource.methods)
  var method: String

  @Argument(help: "Its params, a JSON object; - reads them from standard input.")
  var params: String?

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let result = try await context.call(method, try object(context.input))
    if let remark = Self.remarks[method] { try context.errors.wrapped(line: "sdkctl: warning: \(remark)") }
    guard context.presenter.isForPeople else { return try context.presenter.show(result) }
    try context.presenter.indented(result)
  }

  /// Remarks on methods whose effect ends with the connection, and so with this command.
  private static let remarks = [
    "events.subscribe": "The subscription ended with this command. sdkctl events --follow keeps one.",
    "delegate.attach": "The delegate was detached at the end of this command. A delegate needs a program that stays.",
  ]

  private func object(_ input: Input) throws -> JSON {
    guard let params else { return [:] }
    if params == "-" { return .object(try input.object(from: "-")) }
    guard let object = try? JSONParser.parse(params).objectValue else {
      throw CommandFailure.usage("The params must be a JSON object.")
    }
    return .object(object)
  }
}
