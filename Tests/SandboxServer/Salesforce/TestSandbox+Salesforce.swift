import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

extension TestSandbox {
  static let tokenPath = "/sf/services/oauth2/token"
  static let data = "/sf/services/data/v59.0"

  /// Issues a first set of tokens to a user and returns it.
  func grant(_ user: String = "alice", _ more: [String: JSON] = [:]) async throws -> JSON {
    try await control("/_grant", .object(more.merging(["user": .string(user)]) { first, _ in first }))
  }

  func refresh(
    _ refreshToken: String?, client: String = DemoAccounts.salesforceClientID, _ more: [String: String] = [:],
    at path: String = tokenPath
  ) async throws -> SandboxResponse {
    var form = ["grant_type": "refresh_token", "client_id": client]
    form["refresh_token"] = refreshToken
    return try await send("POST", path, form: form.merging(more) { $1 })
  }

  func limits(_ token: String?, at path: String = "\(data)/limits") async throws -> SandboxResponse {
    try await send("GET", path, authorization: token.map { "Bearer \($0)" })
  }

  func userInfo(_ token: String?) async throws -> SandboxResponse {
    try await send("GET", "/sf/services/oauth2/userinfo", authorization: token.map { "Bearer \($0)" })
  }
}

extension JSON {
  var access: String? { self["access_token"]?.stringValue }
  var refresh: String? { self["refresh_token"]?.stringValue }
}

extension SandboxResponse {
  var isInvalidSession: Bool {
    status == 401 && tree == [["errorCode": "INVALID_SESSION_ID", "message": "Session expired or invalid"]]
  }

  /// The `error` of an OAuth refusal with status 400; `nil` for any other response.
  var oauthError: String? { status == 400 ? tree?["error"]?.stringValue : nil }

  var isBadToken: Bool {
    status == 403 && body == Data("Bad_OAuth_Token".utf8) && headers["Content-Type"] == ["text/plain"]
  }
}
