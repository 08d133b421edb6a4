import JSONRPC
import Testing

@testable import ProviderUnit

@Suite struct QuestionVariablesTests {
  @Test func areTheQuestion() throws {
    let question = try JSONParser.parse(
      #"""
      {"version": 1, "question": "invalidAuth", "instance": "desk", "kind": "zendesk.messaging", "attempt": 2,
       "service": "sales", "user": {"id": "v", "externalId": "alice"}, "error": null}
      """#)
    #expect(
      QuestionVariables.make(question) == [
        "SDKD_INSTANCE": "desk", "SDKD_KIND": "zendesk.messaging", "SDKD_QUESTION": "invalidAuth",
        "SDKD_ATTEMPT": "2", "SDKD_SERVICE": "sales", "SDKD_EXTERNAL_ID": "alice",
      ])
  }

  @Test func holdNoSecretAndNothingThatIsMissing() throws {
    let question = try JSONParser.parse(
      #"{"instance": "desk", "attempt": "2", "user": {"externalId": "hush", "isSecret": true}}"#)
    #expect(QuestionVariables.make(question) == ["SDKD_INSTANCE": "desk"])
    #expect(QuestionVariables.make([]) == [:])
    #expect(QuestionVariables.make(["instance": "a\u{0}b", "user": nil]) == [:])
  }
}
