import Foundation
import Testing

@testable import SandboxServer

struct DemoAccountTests {
  @Test func `Keys and accounts of every SDK are shown`() async throws {
    let shown = try #require(String(data: try await TestSandbox().send("GET", "/_keys").body, encoding: .utf8))
    let expected = [
      DemoAccounts.secret, DemoAccounts.supportAppID, DemoAccounts.supportAnonymousClientID,
      DemoAccounts.supportSecret, DemoAccounts.salesforceClientID, DemoAccounts.salesforceClientSecret,
      DemoAccounts.chatAccountKey, DemoAccounts.chatSecret, DemoAccounts.chatAccountKeyWithoutSecret,
    ]
    for text in expected { #expect(shown.contains(text), "\(text)") }
  }
}
