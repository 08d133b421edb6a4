import Foundation

/// The vendor's side of `zendesk.support` as `vendors.md` 2 and 9.2 describe it, with the customer's JWT endpoint.
struct SupportBackend: SandboxBackend {
  static let prefix = "zs"
  static let optionNames = SupportOptions.names

  /// `Client-Identifier` of each app.
  static let clients = [
    DemoAccounts.supportAppID: DemoAccounts.supportClientID,
    DemoAccounts.supportAnonymousAppID: DemoAccounts.supportAnonymousClientID,
  ]

  var settings = SupportOptions()
  /// What the vendor verifies the customer's JWTs with.
  var vendorSecret = DemoAccounts.supportSecret
  /// What the customer signs them with.
  var customerSecret = DemoAccounts.supportSecret
  var users: [SupportUser.Identity: SupportUser] = [:]
  var tokens = BoundedStore<AccessToken>(most: SandboxLimits.tokens)
  /// The `jti` of every JWT so far: each is good once.
  var spent = BoundedStore<Bool>(most: SandboxLimits.tokens)
  var devices = BoundedStore<SupportDevice>(most: SandboxLimits.users)
  /// Each request to the customer's endpoint and its status, 0 when it was down; oldest first.
  var customerCalls: [(token: String, status: Int)] = []
  private var lastID = 360_000_000_000

  /// Whom an access token stands for.
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

  /// How the users of a client's app authenticate.
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
    let core: JSONTree = [
      "identifier": .string(app), "authentication": .string(authentication(of: client).rawValue),
      "brand_id": 360_000_000_000, "updated_at": "2027-01-01T00:00:00Z",
    ]
    // Published builds read the members from `core`; older ones from the top.
    return SandboxResponse(200, json: .object((core.members ?? [:]).merging(["core": core]) { first, _ in first }))
  }

  /// The body as a JSON object.
  static func body(_ call: BackendCall) throws(SupportRefusal) -> JSONTree {
    guard let tree = JSONTree(parsing: call.body), tree.members != nil else {
      throw .badRequest("the body must be a JSON object")
    }
    return tree
  }

  /// The text of an optional member; anything but a string is refused.
  static func text(_ name: String, in tree: JSONTree) throws(SupportRefusal) -> String? {
    guard let value = tree[name] else { return nil }
    guard let text = value.text else { throw .badRequest("\(name) must be a string") }
    return text
  }
}
