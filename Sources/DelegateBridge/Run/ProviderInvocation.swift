import JSONRPC
import Logging
import ProviderUnit
import SDKProtocol

/// The parameters of one run of a provider: the program, its input, and its limits.
struct ProviderInvocation: Sendable {
  /// The name of the unit to call instead of a command.
  var unit: String?
  /// The words of the command.
  var arguments: [String]
  /// The complete environment of the run.
  var environment: [String: String]
  /// The working directory.
  var workingDirectory: String
  /// The content of standard input.
  var input: [UInt8]
  /// The time after which the run is ended.
  var timeout: Duration
  /// The maximum size of standard output, in bytes.
  var maxOutput: Int
  /// The fields of the instance for the journal.
  var metadata: Logger.Metadata
  /// The metadata of the lines that the provider writes to its standard error.
  var outputMetadata: Logger.Metadata { metadata.merging(["providerOutput": "1"]) { first, _ in first } }

  /// Creates the invocation of a configured provider for a question.
  ///
  /// - Parameters:
  ///   - inherited: the daemon's own environment, of which few variables are passed on.
  ///   - patience: the time left until the question's deadline.
  init(
    _ provider: ProviderConfiguration, _ question: BridgeQuestion, inherited: [String: String], patience: Duration
  ) {
    let asked = question.providerInput
    unit = provider.unit
    arguments = provider.arguments
    environment = ProviderEnvironment.make(provider, asked, inherited: inherited)
    workingDirectory = provider.workingDirectory
    let text = provider.input.text(of: question)
    if let text, provider.unit == nil {
      input = Array(text.utf8)
    } else {
      // The wrapper in the unit sets the question's environment variables and feeds the program.
      input = JSONWriter.bytes(of: text.map { ProviderQuestion.wrapping(asked, standardInput: $0) } ?? asked) + [0x0A]
    }
    timeout = min(provider.timeout.duration, patience)
    maxOutput = provider.maxOutput.bytes
    metadata = [
      "instance": .string(question.instance.name), "kind": .string(question.kind.name),
      "provider": .string(provider.name),
    ]
    if let service = question.service { metadata["service"] = .string(service) }
  }
}
