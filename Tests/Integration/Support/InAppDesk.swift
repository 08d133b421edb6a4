import Foundation
import JSONRPC

/// An instance of Messaging for In-App and Web named `desk` at the sandbox.
struct InAppDesk {
  static let exchangeRoute = "POST /iamessage/api/v2/authorization/authenticated/access-token"
  static let revokeRoute = "DELETE /iamessage/api/v2/authorization/authenticated/access-token"
  static let mint = "'\(Program.path("sdk-sandbox"))' mint --sdk salesforce.messaging"

  /// The settings of an instance for v1 of the API, and of one for its guests.
  static let mobile: JSONObject = ["api": "v1", "developer_name": "Sandbox_Mobile"]
  static let mobileGuest: JSONObject = [
    "api": "v1", "developer_name": "Sandbox_Mobile_Guests", "user_verification": "off",
  ]
  static let renewalRoute = "POST /iamessage/v1/authorization/renewToken"

  let desk: Desk
  let line: Line

  /// - Parameter script: the token provider as a shell script, which finds the question in the file `question`; `nil`
  ///   for no provider.
  init(settings: JSONObject = [:], script: String? = nil) throws {
    desk = try Desk.open()
    line = try desk.connect()
    try create("desk", settings: settings, script: script)
  }

  private init(_ desk: Desk, _ line: Line) {
    self.desk = desk
    self.line = line
  }

  /// Creates an instance. Settings that are null are left out.
  func create(_ id: String, settings: JSONObject = [:], script: String? = nil) throws {
    let base: JSONObject = [
      "base_url": .string(try desk.vendor.base("sm")), "org_id": "00Dsandbox00001", "developer_name": "Sandbox_Api",
      "refresh": ["min_interval": 0.2],
    ]
    let all = base.merged(with: settings)
    let provider = try script.map { script in
      try desk.provider(
        "cd '\(desk.folder.path)'\ncat > question; cat question >> asked; echo >> asked\n\(script)",
        name: "provider-\(id)")
    }
    try desk.create(
      id, kind: "salesforce.messaging", on: line,
      settings: JSONObject(all.members.filter { !$0.value.isNull }.map { ($0.key, $0.value) }), provider: provider)
  }

  /// A provider that mints a JWT of alice for each question.
  static let minting = "exec \(mint) --sub alice"

  /// Kills the daemon and starts it again. Returns the same instance on a new connection.
  func crashed() throws -> InAppDesk {
    try desk.crash()
    return InAppDesk(desk, try desk.connect())
  }

  /// Starts the daemon after it was stopped. Returns the same instance on a new connection.
  func started() throws -> InAppDesk {
    try desk.start()
    return InAppDesk(desk, try desk.connect())
  }

  /// Returns an identity JWT.
  static func jwt(_ user: String = "alice", ttl: Int? = 3600, _ more: [String] = []) throws -> String {
    try Vendor.mint(user, ttl: ttl, ["--sdk", "salesforce.messaging"] + more)
  }

  @discardableResult
  func signIn(_ jwt: String? = nil, as user: String = "alice") throws -> JSON {
    let jwt = try jwt ?? Self.jwt(user)
    return try line.call("messagingInApp.setIdentityToken", ["instance": "desk", "identityToken": .string(jwt)])
  }

  func call(_ method: String, _ params: JSONObject = [:]) throws -> JSON { try line.call(method, Self.on(params)) }

  private static func on(_ params: JSONObject) -> JSON {
    var all = params
    all["instance"] = "desk"
    return .object(all)
  }

  /// Makes a call that must fail, and returns the error's data.
  func failure(_ method: String, _ params: JSONObject = [:]) throws -> JSON {
    let id = line.begin(method, Self.on(params))
    let answer = try line.answer(id)
    guard let data = answer["error"]?["data"] else {
      throw Program.Failure(description: "\(method) did not fail: \(JSONWriter.text(of: answer))")
    }
    return data
  }

  func token() throws -> JSON { try call("token.get") }
  func open() throws -> JSON { try call("session.open") }
  func state() throws -> String? { try desk.state(of: "desk", on: line) }
  func events(_ types: String...) throws -> [JSON] {
    let all = try desk.events("desk", on: line)
    return types.isEmpty ? all : all.filter { types.contains($0["type"]?.stringValue ?? "") }
  }

  /// Returns the types of the instance's events among these, oldest first.
  func types(_ types: String...) throws -> [String] {
    try events().compactMap { $0["type"]?.stringValue }.filter { types.contains($0) }
  }

  /// Returns the questions to the providers, oldest first.
  func asked() -> [JSON] {
    let text = (try? String(contentsOf: desk.folder.appendingPathComponent("asked"), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap { try? JSONParser.parse(Array($0.utf8)) }
  }

  // MARK: The vendor

  func options(_ options: JSONObject) throws {
    var all = options
    all["sdk"] = "sm"
    try desk.vendor.request("POST", "/_options", .object(all))
  }

  func script(_ script: JSONObject, at route: String = exchangeRoute) throws {
    let parts = route.split(separator: " ")
    let route: JSONObject = ["route": .string("\(parts[0]) /sm\(parts[1])")]
    try desk.vendor.script(.object(route.merged(with: script)))
  }

  func exchanges() throws -> Int { try desk.vendor.count("POST", "/authenticated/access-token") }
  func revokes() throws -> Int { try desk.vendor.count("DELETE", "/authenticated/access-token") }

  /// Returns the access tokens that the vendor has issued, oldest first.
  func issued() throws -> [JSON] {
    try listed("accessTokens")
  }

  /// Returns a list of the vendor's state.
  func listed(_ name: String) throws -> [JSON] {
    try desk.vendor.request("GET", "/_state")["sm"]?[name]?.arrayValue ?? []
  }

  /// Returns the number of requests to a route of v1.
  func count(_ name: String) throws -> Int { try desk.vendor.count("POST", "/\(name)") }

  /// Makes the vendor refuse the access tokens that a user has had so far.
  func revoke(_ user: String = "alice") throws {
    try desk.vendor.request("POST", "/_revoke", ["sdk": "sm", "externalId": .string(user)])
  }

  /// Reports the present token as refused with 401.
  func reject() throws {
    let token = try token()
    _ = try call("token.reject", ["tokenId": token["tokenId"] ?? .null, "status": 401])
  }
}
