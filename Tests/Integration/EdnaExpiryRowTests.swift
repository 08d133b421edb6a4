import Foundation
import JSONRPC
import Testing

/// The rows E4, E9 and E13 of the design's table for Chat Center: the end of a JWT, the history and the live socket.
@Suite struct EdnaExpiryRowTests {
  /// Returns a JWT that ends in `seconds`. The vendor's installation has no record of it.
  private static func jwt(endingIn seconds: Double, _ name: String = "a") -> String {
    func part(_ json: JSON) -> String {
      Data(JSONWriter.bytes(of: json)).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: "")
    }
    let end = Int(Date().timeIntervalSince1970 + seconds)
    return "\(part(["alg": "HS256"])).\(part(["sub": .string(name), "exp": JSON(end)])).c2lnbmF0dXJl"
  }

  @Test("Without expiresAt, the expiry of the JWT counts, for authorize and for the provider's response")
  func E13_endOfAJWT() throws {
    let next = Self.jwt(endingIn: 7200, "next")
    let desk = try EdnaDesk { try $0.provider("echo run >> runs; echo '{\"token\": \"\(next)\"}'") }
    let first = Self.jwt(endingIn: 600)
    try desk.authorize("u-1", auth: ["token": .string(first)])
    let token = try desk.call("token.get")
    #expect(token["token"] == .string(first))
    #expect((token["ttl"]?.doubleValue ?? 0) > 500)
    #expect((token["ttl"]?.doubleValue ?? 1000) <= 600)
    let longer = try desk.call("token.get", ["minTTL": 3600])
    #expect(longer["token"] == .string(next))
    #expect(longer["fromCache"] == false)
    #expect((longer["ttl"]?.doubleValue ?? 0) > 7000)
    try desk.crash()
    #expect(try desk.call("token.get")["expiresAt"] == longer["expiresAt"])
    try desk.waitUntilOnline("u-1")
    try eventually("the connection is open") { try desk.call("getChat")["live"] == true }
    // Authorizing again with the first JWT, which the app still holds, changes nothing.
    let count = try desk.vendor.log().count
    try desk.authorize("u-1", auth: ["token": .string(first)])
    #expect(try desk.vendor.log().count == count)
  }

  @Test("An expired JWT is refused without a request, and is never served", arguments: ["", "Bearer "])
  func E13_expiredJWT(scheme: String) throws {
    let dead = scheme + Self.jwt(endingIn: -5)
    let desk = try EdnaDesk { try $0.provider("echo '{\"token\": \"\(dead)\"}'") }
    let error = try desk.failure(
      "authorize", EdnaDesk.user("u-1", [:]).merged(with: ["auth": ["token": .string(dead)]]))
    #expect(error.code == -32020)
    #expect(error.reason == "expiredJWT")
    #expect(error.message.hasPrefix("The JWT has expired"))
    #expect(try desk.vendor.log().isEmpty)
    #expect(try desk.events("authenticationFailed").map { $0["data"]?["reason"] } == ["expiredJWT"])
    // An expired JWT from the provider is not served either.
    try desk.authorize("u-1", auth: ["token": "opaque"])
    #expect(try desk.failure("token.refresh").reason == "providerOutputInvalid")
    #expect(try desk.call("token.get")["token"] == "opaque")
  }

  @Test("A stored JWT that expires is replaced, and is never served afterwards")
  func E13_endWhileHeld() throws {
    let next = Self.jwt(endingIn: 7200, "next")
    let desk = try EdnaDesk { try $0.provider("echo '{\"token\": \"\(next)\"}'") }
    try desk.authorize("u-1", auth: ["token": .string(Self.jwt(endingIn: Double(Vendor.shortLife)))])
    try eventually("the JWT has ended and the next one is served") {
      try desk.call("token.get")["token"] == .string(next)
    }
    #expect(try desk.state == "authenticated")
    #expect(try desk.events("authenticationFailed").isEmpty)
  }

  @Test("The history is requested once for each configuration, after CLIENT_INFO, and not after a reconnection")
  func E4_history() throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1")
    #expect(try desk.arrivals().suffix(2) == ["CLIENT_INFO", "client/history"])
    try desk.vendor.request("POST", "/_close", [:])
    try eventually("the connection is there again") { try desk.frames("CLIENT_INFO").count == 2 }
    try desk.authorize("u-1")
    #expect(try desk.requests("/history").count == 1)
    try desk.call("logout", ["wait": true])
    try desk.authorize("u-1")
    #expect(try desk.requests("/history").count == 2)
  }

  @Test("The session has the state of the socket, and opening the chat reconnects a lost one")
  func E9_live() throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1")
    #expect(try desk.call("getChat")["live"] == true)
    try desk.script("GET /ed/ws", ["status": 503, "times": "forever"])
    try desk.vendor.request("POST", "/_close", [:])
    try eventually("the socket is lost") { try desk.call("getChat")["live"] == false }
    #expect(try desk.call("getChat")["visible"] == true)
    try desk.vendor.clearScripts()
    try eventually("opening the chat has connected it") { try desk.call("getChat")["live"] == true }
    try desk.waitUntilOnline("u-1")
  }
}
