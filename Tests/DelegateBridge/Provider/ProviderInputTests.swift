import JSONRPC
import ProviderUnit
import SDKProtocol
import Testing

@testable import DelegateBridge

/// The JSON that providers read on standard input.
@Suite struct ProviderInputTests {
  private func question(_ user: String?, host: String? = "acme.zendesk.com", isSecret: Bool = false) throws
    -> BridgeQuestion
  {
    var question = try BridgeQuestion.sample()
    question.user = user.map { .init(externalId: $0) }
    question.host = host
    question.concealsExternalId = isSecret
    return question
  }

  private func input(_ provider: ProviderConfiguration, _ question: BridgeQuestion) -> String {
    let invocation = ProviderInvocation(provider, question, inherited: [:], patience: .seconds(1))
    return String(decoding: invocation.input, as: UTF8.self)
  }

  @Test("A git helper gets protocol, host and user name")
  func git() throws {
    let provider = ProviderConfiguration(command: ["/a"], input: .git)
    #expect(
      input(provider, try question("alice")) == "protocol=https\nhost=acme.zendesk.com\nusername=alice\n\n")
    #expect(input(provider, try question(nil, host: nil)) == "protocol=https\n\n")
    #expect(
      input(provider, try question("alice", isSecret: true)) == "protocol=https\nhost=acme.zendesk.com\n\n",
      "a secret is left out")
  }

  @Test("A line break in an external id adds no line", arguments: ["a\nhost=evil", "a\rb", "a\u{0}b", "a\r\nb"])
  func noInjection(name: String) throws {
    let text = input(ProviderConfiguration(command: ["/a"], input: .git), try question(name))
    #expect(text == "protocol=https\nhost=acme.zendesk.com\n\n")
  }

  @Test("Without input a command reads nothing")
  func none() throws {
    #expect(input(ProviderConfiguration(command: ["/a"], input: .none), try question("alice")) == "")
  }

  @Test("A unit gets the question with the text for its program", arguments: ProviderInput.allCases)
  func unit(form: ProviderInput) throws {
    let question = try question("alice")
    let sent = input(ProviderConfiguration(unit: "a", input: form), question)
    let read = ProviderQuestion.programInput(try JSONParser.parse(sent), received: Array(sent.utf8))
    let command = input(ProviderConfiguration(command: ["/a"], input: form), question)
    #expect(String(decoding: read, as: UTF8.self) == command)
    #expect(try JSONParser.parse(sent)["instance"]?.stringValue == question.instance.name)
  }
}
