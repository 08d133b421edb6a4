import Foundation

/// The vendor's side of `zendesk.chat`: the exchange of a JWT for an id token, and who may register (`vendors.md` 4
/// and 9.4).
struct ChatBackend: SandboxBackend {
  static let prefix = "zc"
  static let controls = ["_ban"]
  static let optionNames = ChatOptions.names

  var settings = ChatOptions()
  /// Shared secrets by account key; an account may have none.
  var accounts: [String: String?] = [
    DemoAccounts.chatAccountKey: DemoAccounts.chatSecret, DemoAccounts.chatAccountKeyWithoutSecret: nil,
  ]
  var visitors: [String: ChatVisitor] = [:]
  /// Visitor ids by every state that an exchange gave.
  var states = BoundedStore<String>(most: SandboxLimits.tokens)
  var idTokens = BoundedStore<ChatVisitor.IDToken>(most: SandboxLimits.tokens)
  var bannedExternalIDs: Set<String> = []
  var bannedMachines: Set<String> = []
  /// Whose machine id (`mid`) it is, by the first external id that registered with it.
  var machines = BoundedStore<String>(most: SandboxLimits.users)
  /// Open sockets, each with its registration once it has one.
  var openSockets: [Int: ChatRegistration?] = [:]
  var outbox: [SocketAction] = []
  /// Register frames and how they were acknowledged, oldest first.
  var registrations: [ChatRegistration] = []

  mutating func respond(to call: BackendCall) -> SandboxResponse {
    do throws(ChatRefusal) {
      guard call.path == ["authenticated", "web", "jwt"] else { throw .other(status: 404, "not found") }
      guard call.method == "POST" else { throw .other(status: 405, "method not allowed") }
      return SandboxResponse(200, json: try exchange(call))
    } catch {
      return error.response(status: settings.failureStatus)
    }
  }

  /// `POST /authenticated/web/jwt`: an id token and a new state for the visitor whom the JWT names.
  private mutating func exchange(_ call: BackendCall) throws(ChatRefusal) -> JSONTree {
    guard let form = call.form else { throw .other(status: 400, "bad request", details: "the body must be a form") }
    guard let key = form["account_key"], let secret = accounts[key] else { throw .accountKeyNotFound }
    guard let token = form["token"], !token.isEmpty else { throw .tokenNotFound }
    guard let secret else { throw .noSharedSecret }
    let claims = try ChatClaims(token, secret: secret, externalIDMax: settings.externalIDMax, now: call.now)
    var visitor = try visitor(of: claims, account: key, state: form["state"])
    visitor.name = claims.name
    visitor.email = claims.email
    visitor.exchanges += 1
    visitor.state = "zcs_\(Self.random())"
    visitors[visitor.id] = visitor
    states[visitor.state] = visitor.id
    let idToken = "zct_\(Self.random())"
    let lifetime = TimeInterval(settings.expiresIn)
    idTokens[idToken] = .init(visitor: visitor.id, expires: call.now.addingTimeInterval(lifetime))
    return [
      "success": true, "id_token": .string(idToken), "state": .string(visitor.state),
      "expires_in": .number(lifetime),
    ]
  }

  /// The visitor whom the state stands for, who can't become another; without a state, whoever has the external id.
  ///
  /// A state that was never given out is as good as none: a sandbox that was started again knows none.
  private func visitor(of claims: ChatClaims, account: String, state: String?) throws(ChatRefusal) -> ChatVisitor {
    if let state, let id = states[state], var visitor = visitors[id] {
      guard visitor.accountKey == account, visitor.externalID == claims.externalID else {
        throw .externalIDHasChanged
      }
      if state == visitor.state { visitor.newestStates += 1 } else { visitor.olderStates += 1 }
      return visitor
    }
    let known = visitors.values.first { $0.accountKey == account && $0.externalID == claims.externalID }
    if let known { return known }
    guard visitors.count < SandboxLimits.users else {
      throw .other(status: 503, "sandbox full", details: "too many visitors")
    }
    return ChatVisitor(
      id: Self.random(), accountKey: account, externalID: claims.externalID, name: claims.name, email: claims.email,
      state: "")
  }

  static func random() -> String {
    UUID().uuidString.lowercased().replacing("-", with: "")
  }
}
