import JSONRPC
import SDKProtocol
import Testing

@testable import SDKKinds

/// The local checks of a JWT, without the network.
@Suite struct MessagingJWTTests {
  private let now = Timestamp(secondsSince1970: 1_800_000_000)

  private func token(_ claims: JSONObject, kid: String? = "app_1") -> Secret { JWTText.make(claims, kid: kid) }

  private func refusal(_ secret: Secret, strict: Bool = false) -> Reason? {
    do throws(SDKError) {
      _ = try MessagingJWT(secret, now: now, isStrict: strict)
      return nil
    } catch {
      return error.reason
    }
  }

  @Test func aGoodTokenIsRead() async throws {
    let jwt = try MessagingJWT(
      token(["external_id": "alice", "scope": "user", "name": "Alice", "exp": 1_800_000_300]), now: now,
      isStrict: true)
    #expect(jwt.externalId == "alice")
    #expect(jwt.name == "Alice")
    #expect(jwt.expiresAt == now + 300)
    #expect(jwt.hints.isEmpty)
  }

  @Test("Ids, names and e-mail addresses are bounded in bytes, whatever their characters are")
  func bytes() async throws {
    // A character can have any number of bytes: this one has 201.
    let tall = "a" + String(repeating: "\u{301}", count: 100)
    #expect(refusal(token(["external_id": .string(tall + tall)])) == .invalidJWTClaims)
    #expect(refusal(token(["external_id": .string(tall)])) == nil)
    for name in ["name", "email"] {
      let long = String(repeating: "é", count: 257)
      #expect(refusal(token(["external_id": "a", name: .string(long)])) == .invalidJWTClaims)
      #expect(refusal(token(["external_id": "a", name: .string(String(long.dropLast()))])) == nil)
    }
  }

  @Test func whatCannotBeRightIsRefused() async throws {
    #expect(refusal(Secret("garbage")) == .failedToDecodeJWT)
    #expect(refusal(Secret("a.b")) == .failedToDecodeJWT)
    #expect(refusal(Secret("")) == .failedToDecodeJWT)
    #expect(refusal(token(["scope": "user"])) == .failedToDecodeJWT)
    #expect(refusal(token(["external_id": 7])) == .invalidJWTClaims)
    #expect(refusal(token(["external_id": ""])) == .invalidJWTClaims)
    #expect(refusal(token(["external_id": .string(String(repeating: "x", count: 256))])) == .invalidJWTClaims)
    #expect(refusal(token(["external_id": .string(String(repeating: "x", count: 255))])) == nil)
    #expect(refusal(token(["external_id": "a", "exp": "soon"])) == .invalidJWTClaims)
    // {"alg":"none"} . {"external_id":"alice"} . (empty signature)
    #expect(refusal(Secret("eyJhbGciOiJub25lIn0.eyJleHRlcm5hbF9pZCI6ImFsaWNlIn0.")) == .invalidJWTClaims)
  }

  @Test("A payload that nests deeper than 32 levels or has long runs of combining marks is refused")
  func hostilePayloads() async throws {
    var tree: JSON = []
    for _ in 0..<30 { tree = [tree] }
    #expect(refusal(token(["external_id": "a", "x": tree])) == nil)
    tree = [tree]
    #expect(refusal(token(["external_id": "a", "x": tree])) == .failedToDecodeJWT)
    let marks = String(repeating: "\u{301}", count: 129)
    #expect(refusal(token(["external_id": "a", "x": .string("a" + marks)])) == .failedToDecodeJWT)
    #expect(refusal(token(["external_id": "a", "i" + marks: 1])) == .failedToDecodeJWT)
  }

  @Test func theEndIsExact() async throws {
    #expect(refusal(token(["external_id": "a", "exp": 1_800_000_000])) == .expiredJWT)
    #expect(refusal(token(["external_id": "a", "exp": 1_800_000_001])) == nil)
    #expect(refusal(token(["external_id": "a"])) == nil)
  }

  @Test func theLintSaysWhatTheVendorWouldNot() async throws {
    let loose = try MessagingJWT(
      token(["external_id": " a", "scope": "admin"], kid: nil), now: now, isStrict: false)
    for word in ["kid", "scope", "external_id", "exp"] {
      #expect(loose.hints.contains { $0.hasPrefix(word) }, "\(word): \(loose.hints)")
    }
    #expect(refusal(token(["external_id": "a", "scope": "admin"]), strict: true) == .invalidJWTClaims)
    let near = try MessagingJWT(
      token(["external_id": "a", "scope": "user", "exp": 1_800_000_010]), now: now, isStrict: false)
    #expect(near.hints == ["nearExpiry"])
  }
}
