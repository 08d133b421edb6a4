import Foundation

/// The tokens that the customer's server is said to have handed out: `POST /_tokens`.
///
/// A client without any needs none; one with tokens of its own, or if there are tokens for everybody, must show one.
struct EdnaTokens: Sendable {
  private var entries: [String: Entry] = [:]

  private struct Entry: Sendable {
    /// `nil` for a token that is anybody's.
    var clientID: String?
    /// `nil` never expires.
    var expiresAt: Date?
    var isRevoked = false
  }

  /// `lifetime` is in seconds; a negative one makes a token that has expired.
  mutating func register(
    _ token: String, of clientID: String?, lifetime: TimeInterval?, at now: Date
  ) throws(ControlMistake) {
    guard entries[token] != nil || entries.count < SandboxLimits.users else {
      throw ControlMistake("token", "at most \(SandboxLimits.users) tokens are kept")
    }
    entries[token] = Entry(clientID: clientID, expiresAt: lifetime.map { now.addingTimeInterval($0) })
  }

  /// From now on the client's tokens are invalid.
  mutating func revoke(of clientID: String) {
    for (token, entry) in entries where entry.clientID == clientID { entries[token]?.isRevoked = true }
  }

  /// Whether the client may go on with this token.
  func check(_ token: String?, of clientID: String, at now: Date) throws(EdnaRefusal) {
    guard let entry = token.flatMap({ entries[$0] }) else {
      guard entries.values.contains(where: { ($0.clientID ?? clientID) == clientID }) else { return }
      throw .unauthorized("invalid", token == nil ? "no token" : "unknown token")
    }
    if let owner = entry.clientID, owner != clientID { throw .unauthorized("invalid", "the token is another client's") }
    if entry.isRevoked { throw .unauthorized("invalid", "the token was revoked") }
    if let end = entry.expiresAt, end <= now { throw .unauthorized("expired", "the token has expired") }
  }

  /// `[{token, clientId, expiresAt, revoked}]`, sorted by token.
  var tree: JSONTree {
    .array(
      entries.sorted { $0.key < $1.key }.map { token, entry in
        .of([
          "token": .string(token), "clientId": .optional(entry.clientID),
          "expiresAt": entry.expiresAt.map { .number($0.timeIntervalSince1970) },
          "revoked": entry.isRevoked ? true : nil,
        ])
      })
  }
}
