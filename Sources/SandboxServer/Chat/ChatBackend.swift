import Foundation
import JSONRPC

/// The vendor's side of `zendesk.chat`.
///
/// It exchanges a JWT for an id token and decides which visitors may register.
struct ChatBackend: SandboxBackend {
  static let prefix = "zc"
  static let controls = ["_ban"]
  static let optionNames = ChatOptions.names

  var settings = ChatOptions()
  /// The shared secrets by account key; `nil` for an account without a secret.
  var accounts: [String: String?] = [
    DemoAccounts.chatAccountKey: DemoAccounts.chatSecret, DemoAccounts.chatAccountKeyWithoutSecret: nil,
  ]
  var visitors: [String: ChatVisitor] = [:]
  /// The visitor ids by state, for each state that an exchange returned.
  var states = BoundedStore<String>(most: SandboxLimits.tokens)
  var idTokens = BoundedStore<ChatVisitor.IDToken>(most: SandboxLimits.tokens)
  var bannedExternalIDs: Set<String> = []
  var bannedMachines: Set<String> = []
  /// The external id that first registered with each machine id (`mid`).
  var machines = BoundedStore<String>(most: SandboxLimits.users)
  /// The open sockets with their registrations; the value is `nil` until the socket has registered.
  var openSockets: [Int: ChatRegistration?] = [:]
  var outbox: [SocketAction] = []
  /// The received register frames with their acknowledgements, oldest first.
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

  /// Handles `POST /authenticated/web/jwt`: issues an id token and a new state to the visitor whom the JWT names.
  private mutating func exchange(_ call: BackendCall) throws(ChatRefusal) -> JSON {
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

  /// Returns the visitor of the state; without a known state, the visitor of the external id, created if needed.
  ///
  /// An unknown state is ignored: a restarted sandbox knows none of its earlier states. Throws if the state belongs to
  /// another account or external id.
  private func visitor(of claims: ChatClaims, account: String, state: String?) throws(ChatRefusal) -> ChatVisitor {
    if let state, let id = states[state], var visitor = visitors[id] {
      guard visitor.accountKey == account, visitor.externalID.hasSameBytes(as: claims.externalID) else {
        throw .externalIDHasChanged
      }
      if state == visitor.state { visitor.newestStates += 1 } else { visitor.olderStates += 1 }
      return visitor
    }
    let known = visitors.values.first { $0.accountKey == account && $0.externalID.hasSameBytes(as: claims.externalID) }
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

/// The options of the Chat backend (`POST /_options`), for behaviour that a scripted response can't produce.
struct ChatOptions: Sendable {
  /// The `expires_in` of new id tokens, in seconds.
  var expiresIn = 3_600
  /// The HTTP status of a refused exchange. The vendor's clients ignore it.
  var failureStatus = 400
  /// The longest `external_id`, in characters. Other pages of the vendor document 255.
  var externalIDMax = 200

  static let names = ["expiresIn", "externalIdMax", "failureStatus"]

  mutating func set(_ members: ControlMembers) throws(ControlMistake) {
    var new = self
    let standard = ChatOptions()
    if members.has("expiresIn") {
      new.expiresIn = try members.integer("expiresIn", in: 0...1_000_000_000) ?? standard.expiresIn
    }
    if members.has("failureStatus") {
      new.failureStatus = try members.integer("failureStatus", in: 200...599) ?? standard.failureStatus
    }
    if members.has("externalIdMax") {
      new.externalIDMax = try members.integer("externalIdMax", in: 1...10_000) ?? standard.externalIDMax
    }
    self = new
  }

  var tree: JSON {
    [
      "expiresIn": .number(Double(expiresIn)), "failureStatus": .number(Double(failureStatus)),
      "externalIdMax": .number(Double(externalIDMax)),
    ]
  }
}
