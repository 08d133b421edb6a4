import Foundation
import JSONRPC

extension MessagingBackend {
  /// Handles `POST appusers`: creates an anonymous user with a session token.
  mutating func createAnonymous(_ call: BackendCall) throws(MessagingRefusal) -> JSON {
    let body = try Self.body(call)
    // An external id needs proof, which only login accepts.
    if body.given("userId") != nil { throw .invalidAuth("userId without a token; use login") }
    var user = try newUser()
    user.sessionToken = UUID().uuidString.lowercased()
    user.profile = try Self.profile(body, onto: [:])
    if body.given("conversation") != nil { user.conversations = [Self.newID()] }
    try attachClient(in: body, to: user.id)
    users[user.id] = user
    return userResponse(user, call, sessionToken: user.sessionToken)
  }

  /// Handles `POST login`: returns the token's user, created if needed, and merges the body's anonymous user into it.
  ///
  /// If the external id is new, the anonymous user gets it and keeps its own id. Otherwise the existing user survives
  /// and the anonymous one is deleted. In both cases the session token becomes invalid.
  mutating func login(_ call: BackendCall) throws(MessagingRefusal) -> JSON {
    let words = (call.authorization ?? "").split(separator: " ").map(String.init)
    guard words.count == 2, words[0].lowercased() == "bearer" else { throw .invalidAuth("login takes a Bearer token") }
    let token = try verify(words[1], now: call.now)
    let body = try Self.body(call)
    if let claimed = body.given("userId"), claimed != .string(token.externalID) {
      throw .invalidAuth("userId in the body is not the token's")
    }
    let anonymous = try provenAnonymous(body)
    var user: MessagingUser
    if let id = known[UTF8Key(token.externalID)], let existing = users[id] {
      user = existing
      if let anonymous { absorb(anonymous, into: &user) }
    } else if let anonymous {
      user = anonymous
      endSession(of: &user)
    } else {
      user = try newUser()
    }
    try attachClient(in: body, to: user.id)
    user.externalID = token.externalID
    user.adopt(token.claims)
    users[user.id] = user
    known[UTF8Key(token.externalID)] = user.id
    return userResponse(user, call)
  }

  /// Returns the anonymous user of `appUserId` and `sessionToken`; `nil` if the body has no session token.
  private func provenAnonymous(_ body: JSON) throws(MessagingRefusal) -> MessagingUser? {
    guard let session = try Self.text("sessionToken", in: body) else { return nil }
    guard let id = try Self.text("appUserId", in: body) else { throw .invalidAuth("sessionToken without appUserId") }
    try checkSession(of: id, session)
    return users[id]
  }

  mutating func absorb(_ anonymous: MessagingUser, into user: inout MessagingUser) {
    var gone = anonymous
    endSession(of: &gone)
    users.removeValue(forKey: gone.id)
    user.conversations += gone.conversations
    for (id, client) in clients where client.userID == gone.id { clients[id]?.userID = user.id }
    merges.append((from: gone.id, to: user.id))
    if merges.count > SandboxLimits.users { merges.removeFirst() }
  }

  private mutating func endSession(of user: inout MessagingUser) {
    if let session = user.sessionToken { endedSessions.append(session) }
    endedSessions += user.furtherSessions
    endedSessions.removeFirst(max(0, endedSessions.count - SandboxLimits.users))
    user.sessionToken = nil
    user.furtherSessions = []
  }

  private func newUser() throws(MessagingRefusal) -> MessagingUser {
    guard users.count < SandboxLimits.users else { throw .full("users") }
    return MessagingUser(id: Self.newID())
  }

  /// Assigns the body's `client` to the user. An installation has one user at a time.
  mutating func attachClient(in body: JSON, to userID: String) throws(MessagingRefusal) {
    guard let client = body.given("client") else { return }
    guard let id = client["id"]?.stringValue, !id.isEmpty else { throw .badRequest("client.id must be a string") }
    var known = try existingOrNewClient(id, of: userID)
    known.platform = try Self.text("platform", in: client) ?? known.platform
    known.integrationID = try Self.text("integrationId", in: client) ?? known.integrationID
    if let token = try Self.text("pushNotificationToken", in: client) {
      known.pushNotificationToken = token.isEmpty ? nil : token
    }
    clients[id] = known
  }

  func existingOrNewClient(_ id: String, of userID: String) throws(MessagingRefusal) -> MessagingClient {
    if var client = clients[id] {
      client.userID = userID
      return client
    }
    guard clients.count < SandboxLimits.users else { throw .full("clients") }
    return MessagingClient(id: id, userID: userID)
  }
}
