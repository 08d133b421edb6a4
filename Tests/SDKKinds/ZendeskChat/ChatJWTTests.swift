import Foundation
import JSONRPC
import SDKProtocol
import Testing

@testable import SDKKinds

/// The local checks of a visitor's JWT for Chat, without the network.
@Suite struct ChatJWTTests {
  private static let start = 1_800_000_000
  private let now = Timestamp(secondsSince1970: Double(start))
  private static let good: JSONObject = [
    "name": "Alice", "email": "alice@example.test", "external_id": "alice", "iat": JSON(start),
    "exp": JSON(start + 300),
  ]

  private func token(_ changes: JSONObject = [:]) -> Secret {
    var claims = Self.good.merged(with: changes)
    for change in changes.members where change.value.isNull { claims[change.key] = nil }
    return JWTText.make(claims)
  }

  private func refusal(_ secret: Secret, max: Int = 200) -> SDKError? {
    do throws(SDKError) {
      _ = try ChatJWT(secret, externalIdMax: max, now: now)
      return nil
    } catch {
      return error
    }
  }

  @Test func aGoodTokenIsRead() async throws {
    let jwt = try ChatJWT(token(), externalIdMax: 200, now: now)
    #expect(jwt.externalId == "alice")
    #expect(jwt.name == "Alice")
    #expect(jwt.email == "alice@example.test")
    #expect(jwt.expiresAt == now + 300)
    #expect(jwt.hints.isEmpty)
  }

  @Test("A payload that nests deeper than 32 levels is refused")
  func deepPayload() async throws {
    var tree: JSON = []
    for _ in 0..<30 { tree = [tree] }
    #expect(refusal(token(["x": tree])) == nil)
    tree = [tree]
    #expect(refusal(token(["x": tree]))?.reason == .invalidAccessToken)
  }

  @Test func withoutAnEndItLivesSevenMinutes() async throws {
    #expect(try ChatJWT(token(["exp": nil]), externalIdMax: 200, now: now).expiresAt == now + 420)
    let old = token(["exp": nil, "iat": JSON(Self.start - 420)])
    #expect(refusal(old)?.reason == .tokenHasExpired)
  }

  private static let mistakes: [(changes: JSONObject, reason: Reason)] = [
    (["name": nil], .invalidName), (["name": ""], .invalidName), (["name": " "], .invalidName),
    (["name": 7], .invalidName), (["email": nil], .invalidEmail), (["email": "alice"], .invalidEmail),
    (["email": "a@b@c"], .invalidEmail), (["email": "a b@c"], .invalidEmail), (["email": "@c"], .invalidEmail),
    (["external_id": nil], .invalidAccessToken), (["external_id": ""], .invalidAccessToken),
    (["external_id": 7], .invalidAccessToken),
    (["external_id": .string(String(repeating: "x", count: 201))], .invalidAccessToken),
    (["iat": nil], .invalidAccessToken), (["iat": "now"], .invalidAccessToken),
    (["iat": JSON(start + 121), "exp": JSON(start + 300)], .invalidAccessToken),
    (["exp": JSON(start + 421)], .invalidAccessToken), (["exp": "soon"], .invalidAccessToken),
    (["exp": JSON(start)], .tokenHasExpired), (["iat": JSON(start - 500), "exp": JSON(start - 80)], .tokenHasExpired),
  ]

  @Test(arguments: mistakes)
  func whatCannotBeRightHasItsReason(changes: JSONObject, reason: Reason) async throws {
    let error = refusal(token(changes))
    #expect(error?.reason == reason)
    #expect(error?.origin == .local)
  }

  @Test(arguments: [
    "", "garbage", "a.b.c",
    // {"alg":"none"} . {"external_id":"alice"} . (empty signature)
    "eyJhbGciOiJub25lIn0.eyJleHRlcm5hbF9pZCI6ImFsaWNlIn0.",
    // {"alg":"HS256"} . [] . AAAA
    "eyJhbGciOiJIUzI1NiJ9.W10.AAAA",
  ])
  func whatIsNoSignedTokenIsRefused(text: String) {
    #expect(refusal(Secret(text))?.reason == .invalidAccessToken)
  }

  @Test func theBoundsThemselvesAreGood() async throws {
    #expect(refusal(token(["iat": JSON(Self.start + 120)])) == nil)
    #expect(refusal(token(["exp": JSON(Self.start + 420)])) == nil)
    let long = token(["external_id": .string(String(repeating: "x", count: 200))])
    #expect(refusal(long) == nil)
    #expect(refusal(long, max: 199)?.reason == .invalidAccessToken)
  }

  /// Returns a JWT with this payload and an invalid signature.
  private func written(_ payload: String) -> Secret {
    let part = Data(payload.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
    return Secret("eyJhbGciOiJIUzI1NiJ9.\(part).AAAA")
  }

  @Test("An external_id with control characters is refused", arguments: ["a\nb", "a\u{0}", "\u{85}a", "a\u{7F}"])
  func controlCharacters(id: String) async throws {
    #expect(refusal(token(["external_id": .string(id)]))?.reason == .invalidAccessToken)
  }

  @Test("Texts are bounded in bytes, whatever their characters are")
  func bytes() async throws {
    // A character can have any number of bytes: this one has 201.
    let tall = "a" + String(repeating: "\u{301}", count: 100)
    #expect(refusal(token(["external_id": .string(tall + tall)]))?.reason == .invalidAccessToken)
    #expect(refusal(token(["name": .string(String(repeating: "é", count: 257))]))?.reason == .invalidName)
    #expect(refusal(token(["name": .string(String(repeating: "é", count: 256))])) == nil)
    let email = String(repeating: "e", count: 501) + "@example.test"
    #expect(refusal(token(["email": .string(email)]))?.reason == .invalidEmail)
    #expect(refusal(token(["email": .string(String(email.dropFirst(2)))])) == nil)
  }

  @Test("Other characters than letters, digits and -_.@: in an external_id are a hint")
  func adviceOnCharacters() async throws {
    func hints(_ id: String) throws -> [String] {
      try ChatJWT(token(["external_id": .string(id)]), externalIdMax: 200, now: now).hints
    }
    #expect(try hints("Alice-7_a.b@c:d").isEmpty)
    for odd in ["ü", "a b", "a$", "a/b", "50%"] {
      #expect(try hints(odd).map { String($0.prefix(12)) } == ["external_id:"], "\(odd)")
    }
  }

  @Test("Times that are not written as whole numbers are a hint", arguments: ["1800000000.5", "1800000000.0", "1.8e9"])
  func decimalTimes(time: String) throws {
    let jwt = try ChatJWT(
      written(#"{"name":"A","email":"a@b.c","external_id":"a","iat":\#(time)}"#), externalIdMax: 200, now: now)
    #expect(jwt.hints == ["iat: it is written as a decimal number; write whole seconds"])
    let whole = try ChatJWT(
      written(#"{"name":"A","email":"a@b.c","external_id":"a","iat":1800000000}"#), externalIdMax: 200, now: now)
    #expect(whole.hints.isEmpty)
  }

  @Test func whatExplainsARefusalIsAHint() async throws {
    let milliseconds = refusal(token(["iat": 1_800_000_000_000]))
    #expect(milliseconds?.hints.contains { $0.hasPrefix("iat:") } == true)
    let number = refusal(token(["external_id": 7]))
    #expect(number?.hints.contains { $0.hasPrefix("external_id:") } == true)
    let near = try ChatJWT(token(["exp": JSON(Self.start + 10)]), externalIdMax: 200, now: now)
    #expect(near.hints == ["nearExpiry"])
  }
}
