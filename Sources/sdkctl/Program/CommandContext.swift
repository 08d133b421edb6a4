import JSONRPC
import SDKClient
import SDKProtocol

/// What a verb works with: the daemon, and where it reads and writes.
struct CommandContext {
  let client: SDKClient
  let output: Output
  let errors: Output
  let input: Input
  let presenter: Presenter

  init(
    _ options: GlobalOptions, _ output: Output, _ errors: Output, _ input: Input,
    _ connector: SDKConnector?
  ) {
    // Threads and the runtime of tasks would take longer to start than the call takes.
    client = SDKClient(
      socket: options.location, options: ClientOptions(callTimeout: .seconds(600), callsBlock: connector == nil),
      connector: connector ?? SDKClient.unixSocket)
    self.output = output
    self.errors = errors
    self.input = input
    presenter = Presenter(format: options.output, template: options.template, output: output)
  }

  /// Calls a method and gives its result as the daemon spelt it, with members that this version does not know.
  func ask<M: SDKMethod>(_ method: M.Type, _ params: M.Params) async throws -> JSON {
    try await client.call(M.name, try JSONValueEncoder.encode(params), ordering: M.ordering)
  }
}
