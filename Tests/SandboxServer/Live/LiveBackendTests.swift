import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// The backends over real connections, with headers and forms as the HTTP library parses them.
@Suite(.timeLimit(.minutes(2))) struct LiveBackendTests {
  private func post(
    _ sandbox: LiveSandbox, _ path: String, form: [String: String]
  ) async throws -> RawResponse {
    let client = try RawClient(port: sandbox.port)
    try await client.send(
      LiveSandbox.bytes("POST", path, FormBody.encode(form), headers: ["Content-Type": FormBody.contentType]))
    return try await client.readResponse()
  }

  @Test func `Support exchanges and answers the probe`() async throws {
    try await LiveSandbox.run { sandbox in
      let client = ["Client-Identifier": DemoAccounts.supportClientID]
      let answer = try await sandbox.send(
        "POST", "/zs/access/sdk/jwt", ["user": ["token": "alice"]], headers: client)
      let token = try #require(answer.tree?["authentication"]?["access_token"]?.stringValue)
      let headers = client.merging(["Authorization": "Bearer \(token)"]) { $1 }
      #expect(try await sandbox.send("GET", "/zs/api/mobile/users/me.json", headers: headers).status == 200)
    }
  }

  @Test func `Salesforce refreshes once when the answer is lost`() async throws {
    try await LiveSandbox.run { sandbox in
      let grant = try await sandbox.send("POST", "/_grant", ["user": "alice", "rotating": true]).tree
      let form = [
        "grant_type": "refresh_token", "client_id": DemoAccounts.salesforceClientID,
        "refresh_token": try #require(grant?["refresh_token"]?.stringValue),
      ]
      #expect(grant?["instance_url"] == "http://127.0.0.1/sf")
      let refreshed = try await post(sandbox, TestSandbox.tokenPath, form: form)
      #expect(refreshed.status == 200)
      #expect(try await post(sandbox, TestSandbox.tokenPath, form: form).tree?["error"] == "invalid_grant")
    }
  }

  @Test func `Chat exchanges and acknowledges the register frame`() async throws {
    try await LiveSandbox.run { sandbox in
      let form = ["account_key": DemoAccounts.chatAccountKey, "token": DemoChatToken(externalID: "alice").text]
      let answer = try await post(sandbox, "/zc/authenticated/web/jwt", form: form)
      let idt = try #require(answer.tree?["id_token"]?.stringValue)
      let socket = try await LiveSocket.open(sandbox, "/zc/mediator").get()
      try await socket.send(ChatRegisterTests.frame(idt: idt))
      let expected = String(decoding: ChatMediatorTests.ok.encoded, as: UTF8.self)
      #expect(try await socket.next() == .text(expected))
    }
  }
}
