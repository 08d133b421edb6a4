import JSONRPC
import Logging
import ProviderUnit
import SDKProtocol

/// One run of a provider: the program, what it gets, and its limits.
struct ProviderInvocation: Sendable {
  /// The name of the unit to ask instead of running a command.
  var unit: String?
  /// The words of the command.
  var arguments: [String]
  /// The whole environment.
  var environment: [String: String]
  /// Where it runs.
  var workingDirectory: String
  /// What it may read on standard input.
  var input: [UInt8]
  /// When it is ended.
  var timeout: Duration
  /// How many bytes of output it may write.
  var maxOutput: Int
  /// The instance's fields for the journal.
  var metadata: Logger.Metadata

  /// How a configured provider is asked a question.
  ///
  /// - Parameters:
  ///   - inherited: the daemon's own environment, of which little is passed on.
  ///   - patience: how long there is until the question's deadline.
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
      // The wrapper in the unit makes the variables of the question, and feeds the program.
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
