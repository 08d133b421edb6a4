import SDKClient
import Testing

@testable import sdkctl

/// The keys that may become the credential of a state.
@Suite struct StateKeyTests {
  @Test(
    "A credential is made of a key only where it opens the state, or where root.key does",
    arguments: [
      // isSealed, fileOpens, keyOpens, isRecovery, isRefused
      (false, false, false, false, false), (false, false, false, true, false), (true, true, false, false, false),
      (true, true, false, true, false), (true, false, true, true, false), (true, false, false, true, true),
      (true, false, false, false, true),
    ])
  func aKeyThatOpensNothingIsRefused(
    isSealed: Bool, fileOpens: Bool, keyOpens: Bool, isRecovery: Bool, isRefused: Bool
  ) throws {
    let state = StateKey(isSealed: isSealed, fileOpens: fileOpens, keyOpens: keyOpens)
    let refusal = state.refusal(isRecovery: isRecovery, directory: "/var/lib/sdkd", try DaemonPlace(.system))
    #expect((refusal != nil) == isRefused)
    #expect(refusal?.reason == (isRefused ? "keyMissing" : nil))
    #expect(refusal?.hints.contains { $0.contains("recovery") } != false)
  }
}
