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
}
