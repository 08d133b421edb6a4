import JSONRPC
import SDKProtocol
import Testing

@testable import DelegateBridge

@Suite struct BridgeAnswerTests {
  @Test func doesNotPrintWhatItHolds() {
    let answer = BridgeAnswer(token: Secret("hush"), expiresAt: .now)
    var dumped = ""
    dump(answer, to: &dumped)
    for text in ["\(answer)", String(reflecting: answer), dumped] { #expect(!text.contains("hush")) }
    #expect(answer.token?.reveal() == "hush")
  }

  @Test(arguments: [
    ("1790000000", 1_790_000_000), ("1790000000.5", 1_790_000_000.5), ("\"1790000000\"", 1_790_000_000),
    ("\"2026-09-21T14:13:20Z\"", 1_790_000_000), ("\"2026-09-21T16:13:20.000+02:00\"", 1_790_000_000),
  ]) func readsTimes(text: String, seconds: Double) throws {
    let answer = BridgeAnswer(members: ["expiresAt": try JSONParser.parse(text)])
    #expect(answer.expiresAt?.secondsSince1970 == seconds)
  }

  @Test(arguments: ["1790000000000", "\"tomorrow\"", "-1", "true", "null", "\"\"", "\"nan\""])
  func refusesOtherTimes(text: String) throws {
    #expect(BridgeAnswer(members: ["expiresAt": try JSONParser.parse(text)]).expiresAt == nil)
  }

  private static let answers: [(JSON, String)] = [
    (["token": "t"], "token"), (["defer": true], "defer"),
    (["token": "t", "expiresAt": 1_800_000_000, "scheme": nil], "token"), (["uniqueId": "u"], "uniqueId"),
  ]

  @Test(arguments: answers) func aDelegatesResultIsAnAnswer(result: JSON, member: String) throws {
    let answer = try BridgeAnswer(delegateResult: result, to: .sample())
    #expect(answer.members[member] != nil)
    #expect(answer.members["scheme"] == nil)
  }

  private static let others: [JSON] = [
    "t", ["t"], [:], ["tokne": "my-secret"], ["token": 1], ["token": ""], ["token": "t", "defer": true],
    ["defer": false], ["token": "my-secret", "expiresAt": "soon"], ["proceed": true],
    ["token": .string(String(repeating: "x", count: 70_000))],
  ]

  @Test(arguments: others) func whatIsNoneIsSaidOfTheDelegateAndNotRepeated(result: JSON) throws {
    let error = #expect(throws: SDKError.self) { try BridgeAnswer(delegateResult: result, to: .sample()) }
    #expect(error?.reason == .providerOutputInvalid)
    #expect(error?.message.hasPrefix("The delegate ") == true)
    #expect(error?.message.contains("secret") == false)
  }

  @Test func otherQuestionsHaveOtherAnswers() throws {
    let service = try BridgeAnswer(
      delegateResult: ["authenticate": true, "settings": ["accessToken": "a"]], to: .sample(.shouldAuthenticate))
    #expect(service.authenticate == true)
    #expect(service.settings == ["accessToken": "a"])
    #expect(try BridgeAnswer(delegateResult: ["proceed": false], to: .sample(.authenticationFailed)).proceed == false)
    #expect(throws: SDKError.self) {
      try BridgeAnswer(delegateResult: ["token": "t"], to: .sample(.authenticationFailed))
    }
  }
}
