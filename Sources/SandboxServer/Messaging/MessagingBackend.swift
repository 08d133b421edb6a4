import Foundation
import JSONRPC

/// The vendor's side of `zendesk.messaging`, with the realtime socket.
///
/// It implements the client protocol of Sunshine Conversations.
struct MessagingBackend: SandboxBackend {
  static let prefix = "zm"

  var signingKeys = SigningKeys(DemoAccounts.keys)
  var revocations = TokenRevocations()
  var users: [String: MessagingUser] = [:]
  /// The user ids by external id.
  var known: [UTF8Key: String] = [:]
  var clients: [String: MessagingClient] = [:]
  /// The user merges, each with the ids of both users, oldest first.
  var merges: [(from: String, to: String)] = []
  /// The ended session tokens, oldest first.
  var endedSessions: [String] = []
  /// The clients of the realtime socket by their `clientId`.
  var bayeux: [String: BayeuxClient] = [:]
  /// The clients whose socket has closed, oldest first.
  var lostClients: [LostBayeuxClient] = []
  var outbox: [SocketAction] = []

  mutating func respond(to call: BackendCall) -> SandboxResponse {
    do throws(MessagingRefusal) {
      let (route, app) = try MessagingRoute.find(method: call.method, path: call.path)
      if let app, app != DemoAccounts.appID { throw .notFound("app") }
      return SandboxResponse(200, json: try answer(route, call))
    } catch {
      return error.response
    }
  }

  private mutating func answer(_ route: MessagingRoute, _ call: BackendCall) throws(MessagingRefusal) -> JSON {
    switch route {
    case .settings(let integration):
      try MessagingSettings(call, integration: integration).settings
    case .config(let integration):
      try MessagingSettings(call, integration: integration).config
    case .createUser:
      try createAnonymous(call)
    case .login:
      try login(call)
    case .user(let id):
      try userResponse(authorized(call, for: id), call)
    case .updateUser(let id):
      try update(authorized(call, for: id), call)
    case .logout(let id):
      try logout(authorized(call, for: id), call)
    case .updateClient(let id, let client):
      try updateClient(client, of: authorized(call, for: id), call)
    case .conversations(let id):
      ["conversations": try authorized(call, for: id).conversationTrees, "hasMore": false]
    }
  }

  /// Returns `{settings, appUser, conversations}`, with `sessionToken` if one is given.
  func userResponse(_ user: MessagingUser, _ call: BackendCall, sessionToken: String? = nil) -> JSON {
    .of([
      "settings": MessagingSettings.session(call),
      "appUser": user.tree,
      "sessionToken": .optional(sessionToken),
      "conversations": user.conversationTrees,
    ])
  }

  /// Returns the body as a JSON object. An empty body stands for `{}`.
  static func body(_ call: BackendCall) throws(MessagingRefusal) -> JSON {
    if call.body.isEmpty { return [:] }
    guard let tree = JSON(parsing: call.body), tree.members != nil else {
      throw .badRequest("The body must be a JSON object")
    }
    return tree
  }

  /// Returns the text of an optional member. Throws if the member is not a string.
  static func text(_ name: String, in tree: JSON) throws(MessagingRefusal) -> String? {
    guard let value = tree.given(name) else { return nil }
    guard let text = value.stringValue else { throw .badRequest("\(name) must be a string") }
    return text
  }

  /// Returns a new id of 24 hexadecimal digits, like the vendor's.
  static func newID() -> String {
    String(UUID().uuidString.lowercased().filter { $0 != "-" }.prefix(24))
  }
}
