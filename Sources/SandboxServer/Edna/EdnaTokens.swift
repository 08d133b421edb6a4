import Foundation
import JSONRPC

/// The tokens that the customer's server has issued, as registered by `POST /_tokens`.
///
/// A client must send a token if one is registered for it or for all clients. Otherwise it needs none.
struct EdnaTokens: Sendable {
  private var entries: [String: Entry] = [:]

  private struct Entry: Sendable {
    /// The client that owns the token; `nil` for a token that every client may use.
    var clientID: String?
    /// The time at which the token expires; `nil` for a token that never expires.
    var expiresAt: Date?
    var isRevoked = false
  }

  /// Registers a token. `lifetime` is in seconds; a negative one registers an expired token.
  mutating func register(
    _ token: String, of clientID: String?, lifetime: TimeInterval?, at now: Date
  ) throws(ControlMistake) {
    guard entries[token] != nil || entries.count < SandboxLimits.users else {
      throw ControlMistake("token", "at most \(SandboxLimits.users) tokens are kept")
    }
    entries[token] = Entry(clientID: clientID, expiresAt: lifetime.map { now.addingTimeInterval($0) })
  }

  /// Marks the client's tokens as revoked.
  mutating func revoke(of clientID: String) {
    for (token, entry) in entries where entry.clientID == clientID { entries[token]?.isRevoked = true }
  }

  /// Throws unless the client may use this token, or needs none.
  func check(_ token: String?, of clientID: String, at now: Date) throws(EdnaRefusal) {
    guard let entry = token.flatMap({ entries[$0] }) else {
      guard entries.values.contains(where: { ($0.clientID ?? clientID) == clientID }) else { return }
      throw .unauthorized("invalid", token == nil ? "no token" : "unknown token")
    }
    if let owner = entry.clientID, owner != clientID { throw .unauthorized("invalid", "the token is another client's") }
    if entry.isRevoked { throw .unauthorized("invalid", "the token was revoked") }
    if let end = entry.expiresAt, end <= now { throw .unauthorized("expired", "the token has expired") }
  }

  /// The tokens as JSON: `[{token, clientId, expiresAt, revoked}]`, sorted by token.
  var tree: JSON {
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
