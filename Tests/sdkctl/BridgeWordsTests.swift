import JSONRPC
import SDKProtocol
import Testing

@testable import sdkctl

@Suite struct BridgeWordsTests {
  private let now = Timestamp(secondsSince1970: 1_790_000_000)

  private func words(_ bridge: JSON, provider: JSON = ["unit": "desk"]) -> JSON? {
    BridgeWords.readable(["instance": "kiosk", "provider": provider, "bridge": bridge], now: now)["bridge"]
  }

  @Test("Without a provider nothing is said of pauses, until there was one")
  func withoutAProvider() {
    #expect(words(["state": "closed", "attached": 0], provider: nil) == [:])
    #expect(words(["state": "closed", "attached": 2], provider: nil) == ["delegates": "2 attached"])
    #expect(words(["state": "open"], provider: nil)?["state"] == "waiting after failures")
    let unseen = BridgeWords.readable(["bridge": ["state": "closed", "attached": 1]], now: now)
    #expect(unseen == ["bridge": ["delegates": "1 attached"]])
  }

  @Test func tellHowTheBreakerStands() {
    #expect(words(["state": "closed", "attached": 0]) == ["state": "not paused"])
    #expect(words(["state": "halfOpen"])?["state"] == "trying again after failures")
    func next(_ seconds: Double) -> JSON { .string((now + seconds).description) }
    #expect(
      words(["state": "open", "nextAttemptAt": next(12)])?["state"]
        == "waiting after failures; asks again in 12 s, or at once after sdkctl refresh")
    #expect(words(["state": "open", "nextAttemptAt": next(299)])?["state"]?.stringValue?.contains("in 5 min") == true)
    #expect(words(["state": "open", "nextAttemptAt": next(-3)])?["state"]?.stringValue?.contains("in 0 s") == true)
    #expect(words(["state": "open"])?["state"] == "waiting after failures")
    #expect(words(["state": "of a later version"])?["state"] == "of a later version")
  }

  @Test(arguments: [
    ("0", "answered"), ("3", "failed with exit status 3"), ("signal 9", "was ended by signal 9"),
    ("75", "asked to try later (exit status 75)"), ("timeout", "took too long and was ended"),
    ("126", "could not execute its program (exit status 126)"), ("127", "did not find its program (exit status 127)"),
  ]) func tellHowTheLastRunEnded(exit: String, expected: String) {
    #expect(words(["state": "closed", "lastExit": .string(exit)])?["lastRun"]?.stringValue == expected)
  }

  @Test func tellOfDelegates() {
    #expect(words(["state": "closed", "attached": 1])?["delegates"] == "1 attached")
    #expect(words(["state": "closed", "attached": 3])?["delegates"] == "3 attached")
  }

  @Test func whatHasNoBridgeStaysAsItIs() {
    #expect(BridgeWords.readable(["instance": "kiosk"], now: now) == ["instance": "kiosk"])
    #expect(BridgeWords.readable([], now: now) == [])
  }
}
