import Foundation
import JSONRPC

/// A desk with an instance of Service Chat at the sandbox.
final class ServiceDesk {
  static let demo = "3MVG9sandbox.demo"
  static let rotating = "3MVG9sandbox.rotating"
  static let confidential = "3MVG9sandbox.confidential"
  /// The route that tells whose an access token is.
  static let userInfo: JSON = "GET /services/oauth2/userinfo"

  let desk: Desk
  private(set) var line: Line

  /// Opens a desk with these settings and a token provider that is this shell script. Unless the settings have another
  /// `login_url`, or `null`, it is the sandbox.
  ///
  /// - Parameter client: the instance's connected app.
  init(client: String = demo, _ settings: JSONObject = [:], provider: String? = nil) throws {
    desk = try Desk.open()
    line = try desk.connect()
    let base: JSONObject = [
      "client_id": .string(client), "login_url": .string(try desk.vendor.base("sf")), "refresh": ["min_interval": 0],
    ]
    let script = try provider.map { try desk.provider(Self.script($0, in: desk)) }
    try desk.create(
      "desk", kind: "salesforce.chat", on: line, settings: base.merged(with: settings), provider: script)
  }

  /// Returns a provider's script that notes each run with its question, and then runs `body`.
  private static func script(_ body: String, in desk: Desk) -> String {
    "cd '\(desk.folder.path)' || exit 1\necho \"$SDKD_QUESTION $SDKD_SERVICE\" >> runs\n\(body)"
  }

  /// Replaces the script of the provider.
  func replaceProvider(_ body: String) throws { _ = try desk.provider(Self.script(body, in: desk)) }

  /// The questions to the provider, in order.
  var questions: [String] {
    let text = (try? String(contentsOf: desk.folder.appendingPathComponent("runs"), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map { String($0.prefix { $0 != " " }) }
  }

  func crash() throws {
    try desk.crash()
    line = try desk.connect()
  }

  // MARK: The vendor

  var vendor: Vendor { desk.vendor }

  /// Returns the grant that a login in the browser would give.
  func grant(_ user: String = "alice", _ more: JSONObject = [:]) throws -> JSON {
    let base: JSONObject = ["user": .string(user)]
    return try vendor.request("POST", "/_grant", .object(base.merged(with: more)))
  }

  /// Makes the vendor refuse the tokens that a user has so far: `access` or `refresh` tokens, or both.
  func revoke(_ user: String = "alice", _ kind: String? = nil) throws {
    var body: JSONObject = ["externalId": .string(user), "sdk": "sf"]
    body["kind"] = kind.map(JSON.string)
    try vendor.request("POST", "/_revoke", .object(body))
  }

  /// Scripts the responses of the token service.
  func scriptTokens(_ more: JSONObject) throws {
    let base: JSONObject = ["route": "POST /services/oauth2/token"]
    try vendor.script(.object(base.merged(with: more)))
  }

  /// Returns the grants, tokens, revocations and devices of the backend.
  func backend() throws -> JSON { try vendor.request("GET", "/_state")["sf"] ?? .null }

  func grants() throws -> [JSON] { try backend()["grants"]?.arrayValue ?? [] }
  func devices() throws -> [String] {
    (try backend()["devices"]?.arrayValue ?? []).compactMap { $0["ConnectionToken"]?.stringValue }
  }
  func revocations() throws -> [JSON] { try backend()["revocations"]?.arrayValue ?? [] }

  /// Returns the number of refreshes that have reached the vendor.
  func refreshes() throws -> Int { try vendor.count("POST", "/services/oauth2/token") }

  // MARK: The daemon

  /// Returns a grant as authentication settings.
  static func settings(_ grant: JSON, refreshable: Bool = true) -> JSON {
    var settings = JSONObject()
    let names = [
      "instance_url": "instanceUrl", "access_token": "accessToken", "refresh_token": "refreshToken",
      "client_id": "clientId", "id": "identityUrl",
    ]
    for (theirs, ours) in names { settings[ours] = grant[theirs] }
    if !refreshable { settings["refreshToken"] = nil }
    return .object(settings)
  }

  /// Writes the provider's answer to `shouldAuthenticate` to a file.
  func writeAnswer(_ grant: JSON, refreshable: Bool = true, name: String = "answer") throws {
    let answer: JSON = ["authenticate": true, "settings": Self.settings(grant, refreshable: refreshable)]
    try desk.write(name, JSONWriter.text(of: answer))
  }

  @discardableResult
  func set(_ settings: JSON, _ service: String = "chat") throws -> JSON {
    try line.call("serviceChat.setAuthenticationSettings", params(service, ["settings": settings]))
  }

  func refusal(_ settings: JSON, _ service: String = "chat") throws -> RPCError {
    try line.failure("serviceChat.setAuthenticationSettings", params(service, ["settings": settings]))
  }

  /// Signs a user in and returns the grant.
  @discardableResult
  func signIn(
    _ user: String = "alice", _ service: String = "chat", refreshable: Bool = true, _ more: JSONObject = [:]
  ) throws -> JSON {
    let given = try grant(user, more)
    try set(Self.settings(given, refreshable: refreshable), service)
    return given
  }

  func params(_ service: String = "chat", _ more: JSONObject = [:]) -> JSON {
    var params: JSONObject = ["instance": "desk", "service": .string(service)]
    for member in more.members { params[member.key] = .some(member.value) }
    return .object(params)
  }

  func open(_ service: String = "chat") throws -> JSON { try line.call("session.open", params(service)) }
  func token(_ service: String = "chat") throws -> JSON { try line.call("token.get", params(service)) }
  func refresh(_ service: String = "chat") throws -> JSON { try line.call("token.refresh", params(service)) }
  func reason(_ method: String, _ service: String = "chat") throws -> String {
    try line.failure(method, params(service)).reason
  }

  func state(_ service: String = "chat") throws -> String? {
    try line.call("instance.get", ["instance": "desk"])["services"]?[service]?["state"]?.stringValue
  }

  func shownSettings(_ service: String = "chat") throws -> JSON {
    try line.call("serviceChat.getAuthenticationSettings", params(service))["settings"] ?? .null
  }

  func user(_ service: String = "chat") throws -> JSON { try line.call("instance.currentUser", params(service)) }

  func events(_ types: String...) throws -> [JSON] {
    (try line.call("events.list", ["limit": 500])["events"]?.arrayValue ?? [])
      .filter { types.contains($0["type"]?.stringValue ?? "") }
  }

  /// Returns the id of the user that a grant's identity URL names.
  static func userId(_ grant: JSON) -> String? {
    grant["id"]?.stringValue?.split(separator: "/").last.map(String.init)
  }
}
