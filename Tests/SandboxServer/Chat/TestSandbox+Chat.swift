import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

extension TestSandbox {
  func chatToken(_ externalID: String = "alice") -> DemoChatToken {
    DemoChatToken(externalID: externalID, issuedAt: clock.now)
  }

  func chatExchange(
    _ token: String?, state: String? = nil, account: String? = DemoAccounts.chatAccountKey
  ) async throws -> SandboxResponse {
    let form = ["account_key": account, "token": token, "state": state].compactMapValues { $0 }
    return try await send("POST", "/zc/authenticated/web/jwt", form: form)
  }
}

extension SandboxResponse {
  var chatState: String? { tree?["state"]?.stringValue }
  var idToken: String? { tree?["id_token"]?.stringValue }

  /// Whether the response refuses an exchange with this `error` and `details`.
  func isChatRefusal(_ error: String, _ details: String? = nil) -> Bool {
    tree == .of(["success": false, "error": .string(error), "details": .optional(details)])
  }
}
