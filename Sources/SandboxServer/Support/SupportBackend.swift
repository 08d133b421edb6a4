import Foundation
import JSONRPC

/// The vendor's side of `zendesk.support`, with the customer's JWT endpoint.
struct SupportBackend: SandboxBackend {
  static let prefix = "zs"
  static let optionNames = SupportOptions.names

  /// The `Client-Identifier` of each app, by app id.
  static let clients = [
    DemoAccounts.supportAppID: DemoAccounts.supportClientID,
    DemoAccounts.supportAnonymousAppID: DemoAccounts.supportAnonymousClientID,
  ]

  var settings = SupportOptions()
  /// The secret with which the vendor verifies the customer's JWTs.
  var vendorSecret = DemoAccounts.supportSecret
  /// The secret with which the customer signs its JWTs.
  var customerSecret = DemoAccounts.supportSecret
  var users: [SupportUser.Identity: SupportUser] = [:]
  var tokens = BoundedStore<AccessToken>(most: SandboxLimits.tokens)
  /// The `jti` of the JWTs so far: each is valid once.
  var spent = BoundedStore<Bool>(most: SandboxLimits.tokens)
  var devices = BoundedStore<SupportDevice>(most: SandboxLimits.users)
  /// The requests to the customer's endpoint, oldest first. The status is 0 if the endpoint was down.
  var customerCalls: [(token: String, status: Int)] = []
  private var lastID = 360_000_000_000

  /// An access token and the identity of its user.
  struct AccessToken: Sendable {
    let identity: SupportUser.Identity
    var isRevoked = false
  }

  mutating func respond(to call: BackendCall) -> SandboxResponse {
    do throws(SupportRefusal) {
      let route = try SupportRoute.find(method: call.method, path: call.path)
      let client = try client(call)
      switch route {
      case .settings(let app): return try appSettings(app, client, call)
      case .exchangeUniqueID: return SandboxResponse(200, json: try exchangeUniqueID(client, call))
      case .exchangeAnonymous: return SandboxResponse(200, json: try exchangeAnonymous(client, call))
      case .me: return SandboxResponse(200, json: ["user": try authorized(call).tree])
      case .requests:
        _ = try authorized(call)
        return SandboxResponse(200, json: ["requests": [], "count": 0])
      case .createDevice: return SandboxResponse(201, json: try createDevice(try authorized(call), call))
      case .deleteDevice(let id):
        try deleteDevice(id, of: try authorized(call))
        return SandboxResponse(204)
      }
    } catch {
      return error.response
    }
  }

  /// Returns the authentication of the app that a client belongs to.
  func authentication(of client: String) -> SupportOptions.Authentication {
    settings.authentication ?? (client == DemoAccounts.supportAnonymousClientID ? .anonymous : .jwt)
  }

  mutating func newID() -> Int {
    lastID += 1
    return lastID
  }

  private func client(_ call: BackendCall) throws(SupportRefusal) -> String {
    guard let client = call.headers["client-identifier"] else { throw .unauthenticated("no Client-Identifier header") }
    guard Self.clients.values.contains(client) else { throw .unauthenticated("unknown Client-Identifier \(client)") }
    return client
  }

  private func appSettings(
    _ app: String, _ client: String, _ call: BackendCall
  ) throws(SupportRefusal) -> SandboxResponse {
    guard let owner = Self.clients[app] else { throw .notFound("app") }
    guard owner == client else { throw .unauthenticated("Client-Identifier \(client) is another app's") }
    let core: JSON = [
      "identifier": .string(app), "authentication": .string(authentication(of: client).rawValue),
      "brand_id": 360_000_000_000, "updated_at": "2027-01-01T00:00:00Z",
    ]
    // Published builds of the SDK read the members in `core`, older ones those at the top.
    return SandboxResponse(200, json: .object((core.members ?? [:]).merging(["core": core]) { first, _ in first }))
  }

  /// Returns the body as a JSON object.
  static func body(_ call: BackendCall) throws(SupportRefusal) -> JSON {
    guard let tree = JSON(parsing: call.body), tree.members != nil else {
      throw .badRequest("the body must be a JSON object")
    }
    return tree
  }

  /// Returns the text of an optional member. Throws if the member is not a string.
  static func text(_ name: String, in tree: JSON) throws(SupportRefusal) -> String? {
    guard let value = tree.given(name) else { return nil }
    guard let text = value.stringValue else { throw .badRequest("\(name) must be a string") }
    return text
  }
}

extension SupportBackend {
  /// Returns the user of the call's access token.
  func authorized(_ call: BackendCall) throws(SupportRefusal) -> SupportUser {
    guard let text = call.bearer else { throw .unauthenticated("no Authorization header with Bearer") }
    guard let token = tokens[text], let user = users[token.identity] else {
      throw .unauthenticated("unknown access token")
    }
    if token.isRevoked { throw .unauthenticated("the access token was revoked by /_revoke") }
    return user
  }

  /// Handles `POST push_notification_devices`. A push token is one device: a new registration replaces an older one.
  mutating func createDevice(_ user: SupportUser, _ call: BackendCall) throws(SupportRefusal) -> JSON {
    guard let device = try Self.body(call).given("push_notification_device"), var details = device.members,
      let identifier = try Self.text("identifier", in: device), !identifier.isEmpty
    else { throw .badRequest("push_notification_device.identifier is missing") }
    for name in ["device_type", "locale", "token_type", "sdk_guid"] { _ = try Self.text(name, in: device) }
    details.removeValue(forKey: "identifier")
    for (key, old) in devices.values where old.identifier == identifier { devices[key] = nil }
    let created = SupportDevice(id: newID(), userID: user.id, identifier: identifier, details: details)
    devices[String(created.id)] = created
    return ["push_notification_device": created.tree]
  }

  /// Handles `DELETE push_notification_devices/{id}`, by the record's id or by the push token.
  mutating func deleteDevice(_ id: String, of user: SupportUser) throws(SupportRefusal) {
    let found = devices[id] ?? devices.values.values.first { $0.identifier == id }
    guard let found, found.userID == user.id else { throw .notFound("device of this user") }
    devices[String(found.id)] = nil
  }
}
