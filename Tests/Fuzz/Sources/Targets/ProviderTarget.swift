import JSONRPC
import ProviderUnit
import SDKProtocol

@testable import DelegateBridge

extension FuzzTarget {
  /// The output of token providers: every format, the trailer of a unit, and standard error.
  static let provider = FuzzTarget("provider") { input in
    for format in ProviderFormat.allCases {
      for status: Int32 in [0, 1] { read(input.bytes, format, .getToken, status) }
    }
    for question in [BridgeQuestion.Name.shouldAuthenticate, .authenticationFailed] {
      read(input.bytes, .auto, question, 0)
    }
    if let reply = ProviderReply(input.bytes) {
      require(ProviderStatus(trailer: reply.status.trailer) == reply.status, "A status can't be read back.")
      require(!reply.output.isEmpty || input.bytes.first == 0, "The output of a unit is lost.")
    }
    if let json = try? JSONParser.parse(input.bytes) { readQuestion(json, input.bytes) }
    var reader = LineReader()
    let lines = reader.take(input.bytes) + reader.finish()
    require(lines.reduce(0) { $0 + $1.utf8.count } <= 16 * LineReader.limit, "Standard error has no bound.")
    for line in lines { require(!line.contains(secret), "A secret goes to the journal.") }
  }

  /// The secret in the inputs. It must never be shown.
  private static let secret = "cAnArY0123456789cAnArY0123456789"

  private static func read(
    _ output: [UInt8], _ format: ProviderFormat, _ name: BridgeQuestion.Name, _ status: Int32
  ) {
    guard let id = InstanceID("desk") else { return }
    let question = BridgeQuestion(name, instance: id, kind: KindName("zendesk.messaging"), deadline: Clock.now + 10)
    guard
      var provider = try? JSONValueDecoder.decode(ProviderConfiguration.self, from: ["command": ["/bin/true"]])
    else { fatalError("There is no provider.") }
    provider.format = format
    do throws(SDKError) {
      let run = ProviderRun(ending: .exited(status), output: output)
      let answer = try run.answer(to: question, by: provider, now: Clock.now)
      require(answer.token?.isEmpty != true, "An empty token is taken.")
      if let end = answer.expiresAt { require(Timestamp(end.description) != nil, "An end can't be read back.") }
      require(!"\(answer)".contains(secret), "An answer shows its secrets.")
    } catch {
      Check.error(error)
      require(!"\(error)".contains(secret), "An error shows a secret: \(error)")
    }
  }

  private static func readQuestion(_ json: JSON, _ bytes: [UInt8]) {
    for (_, value) in QuestionVariables.make(json) {
      require(!value.utf8.contains(0), "A variable has a NUL.")
    }
    _ = ProviderQuestion.programInput(json, received: bytes)
    _ = try? JSONValueDecoder.decode(ProviderConfiguration.self, from: json)
  }
}
