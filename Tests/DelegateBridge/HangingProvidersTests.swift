import SDKProtocol
import Testing

@testable import DelegateBridge

/// Calls of 300 hanging providers, and of one that responds.
@Suite struct HangingProvidersTests {
  private func bridge(_ provider: FakeProvider) -> ProviderBridge {
    ProviderBridge(
      options: BridgeOptions(limits: SlotLimits(slow: .milliseconds(20)), environment: [:], sweeps: false),
      time: BridgeTime()
    ) { _ in provider }
  }

  @Test(arguments: [1, 10, 30]) func otherOwnersAreServed(owners: Int) async throws {
    let provider = FakeProvider()
    provider.hang("/hang")
    let bridge = bridge(provider)
    try await withThrowingTaskGroup(of: Reason?.self) { group in
      for number in 0..<300 {
        let question = try BridgeQuestion.sample(of: "desk-\(number)")
        group.addTask {
          await failure { () async throws(SDKError) in
            try await bridge.ask(
              question, of: .numbered(number), provider: ProviderConfiguration(command: ["/hang"]),
              owner: UInt32(number % owners))
          }?.reason
        }
      }
      // Hanging runs fill the limit of 256 except for the share of one owner (8). The other calls are refused.
      for _ in 0..<300 - 248 { #expect(try await group.next() == .some(.providerBackoff)) }
      #expect(provider.current == 248)
      for number in 0..<50 {
        let answer = try await bridge.ask(
          .sample(), of: .numbered(1000 + number), provider: ProviderConfiguration(command: ["/works"]), owner: 4711)
        #expect(answer.token == Secret("token-of-/works"))
      }
      group.cancelAll()
    }
    #expect(provider.current == 0)
  }

  @Test func thereIsAnEndToThemAll() async throws {
    let provider = FakeProvider()
    provider.hang("/hang")
    let bridge = bridge(provider)
    try await withThrowingTaskGroup(of: Reason?.self) { group in
      for number in 0..<300 {
        let question = try BridgeQuestion.sample(of: "desk-\(number)")
        group.addTask {
          await failure { () async throws(SDKError) in
            try await bridge.ask(
              question, of: .numbered(number), provider: ProviderConfiguration(command: ["/hang"]),
              owner: UInt32(number))
          }?.reason
        }
      }
      for _ in 0..<300 - 256 { #expect(try await group.next() == .some(.providerBackoff)) }
      #expect(provider.current == 256)
      group.cancelAll()
    }
  }
}
