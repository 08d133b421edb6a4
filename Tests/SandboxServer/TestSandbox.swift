import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// A sandbox without a network, on a clock that moves only when a test advances it.
struct TestSandbox {
  static let app = "/zm/v2/apps/\(DemoAccounts.appID)"

  let clock = TestClock()
  let registry: NamespaceRegistry
  var namespace = ""

  init() {
    registry = NamespaceRegistry(machine: { [clock] in clock.now })
  }

  /// Returns the same sandbox, with requests sent under `/ns/{name}`.
  func named(_ name: String) -> TestSandbox {
    var copy = self
    copy.namespace = "/ns/\(name)"
    return copy
  }

  func reply(
    _ method: String, _ path: String, _ body: JSON? = nil, form: [String: String]? = nil,
    authorization: String? = nil, headers: [String: String] = [:]
  ) async -> SandboxReply {
    let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
    var request = SandboxRequest(method: method, path: namespace + parts[0], query: parts.count > 1 ? parts[1] : "")
    request.headers = headers
    request.headers["host"] = "127.0.0.1:8000"
    request.headers["Authorization"] = authorization
    request.body = body?.encoded ?? Data()
    if let form {
      request.headers["Content-Type"] = FormBody.contentType
      request.body = FormBody.encode(form)
    }
    return await registry.reply(to: request)
  }

  /// Returns the response to a request. Records an issue if there is none.
  func send(
    _ method: String, _ path: String, _ body: JSON? = nil, form: [String: String]? = nil,
    authorization: String? = nil, headers: [String: String] = [:],
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> SandboxResponse {
    let reply = await reply(method, path, body, form: form, authorization: authorization, headers: headers)
    guard case .send(let response) = reply else {
      Issue.record("no response", sourceLocation: sourceLocation)
      return SandboxResponse(0)
    }
    return response
  }

  func token(_ externalID: String, ttl: TimeInterval? = 300) -> String {
    var token = DemoToken(externalID: externalID, issuedAt: clock.now)
    token.lifetime = ttl
    return token.text
  }

  func login(_ jwt: String, _ body: JSON? = nil) async throws -> SandboxResponse {
    try await send("POST", "\(Self.app)/login", body, authorization: "Bearer \(jwt)")
  }

  /// Creates an anonymous user. Returns its id and its session token.
  func anonymous(_ body: JSON = [:]) async throws -> (id: String, session: String) {
    let tree = try #require(try await send("POST", "\(Self.app)/appusers", body).tree)
    return (try #require(tree["appUser"]?["_id"]?.stringValue), try #require(tree["sessionToken"]?.stringValue))
  }

  static func basic(_ user: (id: String, session: String)) -> String {
    "Basic \(Data("\(user.id):\(user.session)".utf8).base64EncodedString())"
  }

  /// Posts a control request, which must succeed, and returns the response.
  @discardableResult
  func control(
    _ name: String, _ body: JSON, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> JSON {
    let response = try await send("POST", name, body, sourceLocation: sourceLocation)
    #expect(response.status == 200, sourceLocation: sourceLocation)
    return response.tree ?? .null
  }

  /// Returns the part of the state that belongs to one backend.
  func state(_ prefix: String) async throws -> JSON {
    try #require(try await send("GET", "/_state").tree?[prefix])
  }

  /// Returns the notes of the log. They have details that responses do not have.
  func notes() async throws -> [String?] {
    let log = try await send("GET", "/_log").tree?["requests"]
    guard case .array(let entries)? = log else { return [] }
    return entries.map { $0["note"]?.stringValue }
  }
}

extension SandboxResponse {
  var tree: JSON? { JSON(parsing: body) }

  /// The `_id` of the user in the response.
  var userID: String? { tree?["appUser"]?["_id"]?.stringValue }

  /// Whether this is the response that is the same for every authentication failure.
  var isInvalidAuth: Bool {
    status == 401 && tree == ["error": ["code": "invalid_auth", "description": "Invalid JWT"]]
  }
}
