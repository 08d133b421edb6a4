import Testing

@testable import ProviderUnit

@Suite struct ProviderReplyTests {
  @Test(arguments: [ProviderStatus.exited(0), .exited(77), .exited(255), .signalled(9), .signalled(127)])
  func isOutputAndStatus(status: ProviderStatus) {
    for output in ["", "token\n", "{\"token\": \"x\"}", "two\u{0}parts", "sdkd-exit 3\n"] {
      let reply = ProviderReply(Array(output.utf8) + status.trailer)
      #expect(reply?.status == status)
      #expect(reply?.output == Array(output.utf8))
    }
    #expect(status.trailer.count <= ProviderStatus.longestTrailer)
  }

  @Test func whatAProgramWritesIsNeverTakenForTheWrappers() {
    let forged = Array("token\n".utf8) + ProviderStatus.exited(0).trailer
    let reply = ProviderReply(forged + ProviderStatus.exited(1).trailer)
    #expect(reply?.status == .exited(1))
    #expect(reply?.output == forged)
  }

  @Test(arguments: [
    "", "token\n", "token\nsdkd-exit 0\n", "\u{0}sdkd-exit 0", "\u{0}sdkd-exit \n", "\u{0}sdkd-exit 256\n",
    "\u{0}sdkd-exit -1\n", "\u{0}sdkd-exit +1\n", "\u{0}sdkd-exit 0\n\n", "\u{0}sdkd-exit 0\nmore",
    "\u{0}sdkd-exit signal 0\n", "\u{0}sdkd-exit signal\n", "\u{0}sdkd-exit 00000000000000000000000000000001\n",
    "\u{0}sdkd-exit 99999999999999\n", "\u{0}SDKD-exit 0\n",
  ]) func anythingElseIsNone(text: String) {
    #expect(ProviderReply(Array(text.utf8)) == nil)
  }

  @Test func everyPrefixIsUnfinished() {
    let whole = Array("token\n".utf8) + ProviderStatus.signalled(15).trailer
    for count in whole.indices { #expect(ProviderReply(Array(whole[..<count])) == nil) }
    #expect(ProviderReply(whole) != nil)
  }
}
