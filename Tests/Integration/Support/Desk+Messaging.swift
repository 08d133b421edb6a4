import Foundation
import JSONRPC

/// The Messaging instance `desk` of a test, and its backend.
extension Desk {
  /// Logs a user in and returns the JWT.
  @discardableResult
  func logIn(as user: String = "alice", ttl: Int = 3600, on line: Line) throws -> String {
    let jwt = try Vendor.mint(user, ttl: ttl)
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
    return jwt
  }

  /// Waits until the current token has expired by the clock.
  func waitForTheEnd(on line: Line) throws {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    let text = try line.call("instance.get", ["instance": "desk"])["expiresAt"]?.stringValue ?? ""
    guard let end = formatter.date(from: text) else { throw Program.Failure(description: "no expiresAt: \(text)") }
    try eventually("the token has ended") { Date() > end }
  }

  func state(on line: Line) throws -> String? { try state(of: "desk", on: line) }

  func user(on line: Line) throws -> JSON { try line.call("instance.currentUser", ["instance": "desk"]) }

  /// Returns the types of the instance's events, oldest first.
  func eventTypes(on line: Line) throws -> [String] {
    try events("desk", on: line).compactMap { $0["type"]?.stringValue }
  }

  /// Waits until the vendor has accepted the realtime subscription of the current user. Returns the user's id.
  @discardableResult
  func waitForRealtime(_ id: String = "desk", on line: Line) throws -> String {
    var user = ""
    try eventually("\(id) listens to its user") {
      user = try line.call("instance.currentUser", ["instance": .string(id)])["id"]?.stringValue ?? ""
      return try vendor.listeners().contains(user)
    }
    return user
  }

  /// Creates a provider that mints a token for the requested user and counts its runs in the file `runs-desk`.
  func countingProvider() throws -> JSON {
    try provider(
      "echo run >> '\(folder.path)/runs-desk'; exec '\(KindSample.sandbox)' mint --external-id \"$SDKD_EXTERNAL_ID\"")
  }
}

extension Vendor {
  /// Returns Messaging's part of the sandbox's state.
  func messagingState() throws -> JSON { try request("GET", "/_state")["zm"] ?? .null }

  /// Returns the users that a realtime socket is subscribed to.
  func listeners() throws -> [String] {
    try messagingState()["subscriptions"]?.arrayValue?.compactMap { $0["appUserId"]?.stringValue } ?? []
  }

  /// Returns the number of open sockets.
  func openSockets() throws -> Int { try request("GET", "/_sockets")["sockets"]?.arrayValue?.count ?? 0 }

  /// Merges two users, by `_id` or external id, and notifies the subscribers of the first.
  func merge(_ from: String, into to: String) throws {
    try request("POST", "/_merge", ["from": .string(from), "to": .string(to)])
  }

  /// Returns the registration of the only client that the vendor knows. Throws unless there is exactly one.
  func client() throws -> JSON {
    let clients = try messagingState()["clients"]?.arrayValue ?? []
    guard clients.count == 1 else { throw Program.Failure(description: "\(clients.count) clients") }
    return clients[0]
  }

  /// Returns `METHOD last-part status` for each request that has arrived.
  func calls() throws -> [String] {
    try log().map { entry in
      let last = entry["path"]?.stringValue?.split(separator: "/").last ?? ""
      return "\(entry["method"]?.stringValue ?? "") \(last) \(entry["status"]?.intValue ?? 0)"
    }
  }
}
