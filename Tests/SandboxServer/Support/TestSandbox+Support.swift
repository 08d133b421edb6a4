import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

extension TestSandbox {
  static let devices = "/zs/api/mobile/push_notification_devices"
  static let guid = "7C9E6679-7425-40DE-944B-E07FC1F90AE7"

  /// Sends a request as the client of the app that takes unique ids, or as `client`.
  func support(
    _ method: String, _ path: String, _ body: JSON? = nil, token: String? = nil,
    client: String? = DemoAccounts.supportClientID
  ) async throws -> SandboxResponse {
    try await send(
      method, path, body, authorization: token.map { "Bearer \($0)" },
      headers: client.map { ["Client-Identifier": $0, "Mobile-Sdk-Identity": Self.guid] } ?? [:])
  }

  func exchange(_ uniqueID: String) async throws -> SandboxResponse {
    try await support("POST", "/zs/access/sdk/jwt", ["user": ["token": .string(uniqueID)]])
  }

  func exchangeAnonymous(_ user: JSON) async throws -> SandboxResponse {
    try await support(
      "POST", "/zs/access/sdk/anonymous", ["user": user], client: DemoAccounts.supportAnonymousClientID)
  }

  func settings(_ app: String, client: String?) async throws -> SandboxResponse {
    try await support("GET", "/zs/api/private/mobile_sdk/settings/\(app).json", client: client)
  }

  func me(_ token: String?) async throws -> SandboxResponse {
    try await support("GET", "/zs/api/mobile/users/me.json", token: token)
  }
}

extension SandboxResponse {
  var accessToken: String? { tree?["authentication"]?["access_token"]?.stringValue }
  var supportUserID: JSON? { tree?["authentication"]?["user_id"] }

  var isUnauthenticated: Bool { status == 401 && tree == ["error": "Couldn't authenticate you"] }
}
