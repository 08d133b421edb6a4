import JSONRPC
import SDKProtocol
import Testing

@testable import DelegateBridge

@Suite struct BridgeQuestionTests {
  @Test func isTheInputOfTheDesign() throws {
    let question = BridgeQuestion(
      .invalidAuth, instance: try #require(InstanceID("a")), kind: KindName("chat"), service: "main", attempt: 3,
      user: .init(externalId: "u-1"), error: .init(reason: .expiredJWT, code: "c", description: "d", httpStatus: 401),
      deadline: Timestamp(secondsSince1970: 1_790_000_000))
    #expect(
      JSONWriter.text(of: question.json)
        == #"{"version":1,"question":"invalidAuth","instance":"a","kind":"chat","service":"main","attempt":3,"#
        + #""user":{"externalId":"u-1"},"error":{"reason":"expiredJWT","code":"c","description":"d","httpStatus":401},"#
        + #""deadline":"2026-09-21T14:13:20.000Z"}"#)
  }

  @Test func leavesOutAMissingUserAndError() throws {
    let question = BridgeQuestion(
      .getToken, instance: try #require(InstanceID("a")), kind: KindName("chat"), deadline: .now)
    #expect(question.json["user"] == nil)
    #expect(question.json["error"] == nil)
    #expect(question.json["service"] == nil)
    #expect(question.json["attempt"]?.intValue == 1)
  }
}
