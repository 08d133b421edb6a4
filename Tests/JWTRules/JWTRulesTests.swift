import JSONRPC
import SDKProtocol
import Testing

@testable import JWTRules

struct JWTRulesTests {
  private let now = Timestamp(secondsSince1970: 1_800_000_000)
  private let goodHeader: JSONObject = ["alg": "HS256", "typ": "JWT", "kid": "app_1"]
  private let goodPayload: JSONObject = [
    "scope": "user", "external_id": "alice", "iat": 1_799_999_900, "exp": 1_800_000_200,
  ]

  private func names(_ header: JSONObject = [:], _ payload: JSONObject = [:]) -> [String] {
    let jwt = DecodedJWT(header: goodHeader.merged(with: header), payload: goodPayload.merged(with: payload))
    return MessagingRules.findings(in: jwt, now: now).filter { $0.severity != .note }.map(\.name)
  }

  @Test func nothingIsWrong() {
    #expect(names().isEmpty)
  }

  @Test(
    arguments: [
      (["alg": "RS256"], "algNotHS256"), (["alg": nil], "algMissing"), (["alg": "none"], "algNotHS256"),
      (["kid": nil], "kidMissing"), (["kid": ""], "kidMissing"), (["typ": "at+jwt"], "typNotJWT"),
      (["typ": "jwt"], "typNotJWT"),
    ] as [(JSONObject, String)])
  func headers(_ header: JSONObject, _ expected: String) {
    #expect(names(header) == [expected])
  }

  @Test(
    "An email that is not verified is named",
    arguments: [
      (["email": "a@b.c"], ["emailNotVerified"]), (["email": "a@b.c", "email_verified": nil], ["emailNotVerified"]),
      (["email": "a@b.c", "email_verified": .null], ["emailNotVerified"]),
      (["email": "a@b.c", "email_verified": "true"], ["emailVerifiedNotBoolean"]),
      (["email": "a@b.c", "email_verified": 1], ["emailVerifiedNotBoolean"]),
      (["email": "a@b.c", "email_verified": true], []), (["email": "a@b.c", "email_verified": false], []),
      (["email": "", "email_verified": "true"], []), (["email_verified": "true"], []),
    ] as [(JSONObject, [String])])
  func emails(_ payload: JSONObject, _ expected: [String]) {
    #expect(names([:], payload) == expected)
  }

  @Test(
    arguments: [
      (["scope": nil], "scopeMissing"), (["scope": "admin"], "scopeNotUser"), (["scope": 1], "scopeNotUser"),
      (["external_id": nil], "externalIdMissing"), (["external_id": 5], "externalIdNotString"),
      (["external_id": ""], "externalIdEmpty"), (["external_id": " alice"], "externalIdSpaces"),
      (["external_id": .string(String(repeating: "x", count: 256))], "externalIdTooLong"),
      (["external_id": .string(String(repeating: "x", count: 201))], "externalIdLong"),
      (["exp": nil], "expMissing"), (["exp": 1_800_000_000], "expiredJWT"), (["exp": 1_800_000_030], "nearExpiry"),
      (["exp": "soon"], "expNotNumber"), (["exp": 1_800_200_000], "longLifetime"),
      (["nbf": 1_800_000_100], "notYetValid"),
    ] as [(JSONObject, String)])
  func payloads(_ payload: JSONObject, _ expected: String) {
    #expect(names([:], payload) == [expected])
  }

  @Test func otherTimes() {
    #expect(names([:], ["iat": 1_800_000_150]) == ["iatInFuture"])
    #expect(names([:], ["iat": 1_800_000_200]).contains("noLifetime"))
    #expect(names([:], ["exp": 1_800_000_000_000, "iat": nil]) == ["expMilliseconds"])
    #expect(names([:], ["exp": 1_800_000_030, "external_id": 5]) == ["externalIdNotString", "nearExpiry"])
  }

  @Test func aLegacyScopeIsOnlyNoted() {
    let jwt = DecodedJWT(header: goodHeader, payload: goodPayload.merged(with: ["scope": "appUser"]))
    #expect(MessagingRules.findings(in: jwt, now: now).map(\.name) == ["scopeLegacy", "lifetime"])
  }

  private let goodChat: JSONObject = [
    "name": "Alice", "email": "alice@example.test", "external_id": "alice-7", "iat": 1_799_999_900,
    "exp": 1_800_000_200,
  ]

  private func names(chat payload: JSONObject) -> [String] {
    var claims = goodChat.merged(with: payload)
    for change in payload.members where change.value.isNull { claims[change.key] = nil }
    let jwt = DecodedJWT(header: ["alg": "HS256"], payload: claims)
    return ChatRules.findings(in: jwt, now: now).filter { $0.severity != .note }.map(\.name)
  }

  @Test(
    "Chat has rules of its own",
    arguments: [
      ([:], []), (["exp": nil], []), (["name": nil], ["nameMissing"]), (["name": " "], ["nameMissing"]),
      (["email": "alice"], ["emailMissing"]), (["external_id": nil], ["externalIdMissing"]),
      (["external_id": .string(String(repeating: "x", count: 201))], ["externalIdTooLong"]),
      (["external_id": "a\n"], ["externalIdControl"]), (["external_id": "ü $"], ["externalIdUnwise"]),
      (["iat": nil], ["iatMissing"]), (["iat": "now"], ["iatNotNumber"]),
      (["iat": 1_800_000_121, "exp": 1_800_000_300], ["iatInFuture"]),
      (["iat": 1_799_999_900, "exp": 1_800_000_321], ["longLifetime"]),
      (["iat": 1_799_999_500, "exp": nil], ["tokenHasExpired"]), (["exp": 1_799_999_990], ["tokenHasExpired"]),
      (["exp": 1_800_000_020], ["nearExpiry"]), (["iat": 1_799_999_900.5], ["iatDecimal"]),
      (["iat": 1_800_000_000_000], ["iatMilliseconds", "iatInFuture"]),
    ] as [(JSONObject, [String])])
  func chat(payload: JSONObject, expected: [String]) {
    #expect(names(chat: payload) == expected)
  }

  @Test("Support's JWT needs a name and an e-mail address; opaque tokens have times only")
  func otherSDKs() {
    func names(_ rules: any JWTRules.Type, _ header: JSONObject, _ payload: JSONObject) -> [String] {
      rules.findings(in: DecodedJWT(header: header, payload: payload), now: now)
        .filter { $0.severity != .note }.map(\.name)
    }
    #expect(names(SupportRules.self, ["alg": "HS256"], ["exp": 1_800_000_200]) == ["nameMissing", "emailMissing"])
    #expect(names(SupportRules.self, ["alg": "HS256"], goodChat).isEmpty)
    #expect(names(OpaqueRules.self, ["alg": "RS256"], ["exp": 1_800_000_200]).isEmpty)
    #expect(names(OpaqueRules.self, ["alg": "RS256"], ["exp": 1_800_000_000]) == ["expiredJWT"])
  }

  @Test(
    "What an answer says in its hints",
    arguments: [
      (["alg": "RS256"], [:], ["alg: the header says RS256; the vendor takes HS256"]),
      (["kid": nil], [:], ["kid: the header has none; it must be the id of the signing key"]),
      (["typ": "at+jwt"], [:], ["typ: the header says at+jwt instead of JWT"]),
      ([:], ["scope": nil], ["scope: it is missing; it must be user"]),
      ([:], ["scope": "admin"], ["scope: admin must be user"]),
      ([:], ["scope": "appUser"], ["scope: appUser is the old form; write user"]),
      ([:], ["exp": nil], ["exp: it is missing; a short life is advised"]),
      ([:], ["exp": 1_800_000_029], ["nearExpiry"]),
      ([:], ["exp": 1_800_000_031], []),
      ([:], ["exp": 1_800_000_000_000], ["exp: it looks like milliseconds; it counts seconds"]),
      ([:], ["external_id": "alice "], ["external_id: it begins or ends with white space"]),
      ([:], ["email": "a@b.c"], []),
    ] as [(JSONObject, JSONObject, [String])])
  func hints(_ header: JSONObject, _ payload: JSONObject, _ expected: [String]) {
    let jwt = DecodedJWT(header: goodHeader.merged(with: header), payload: goodPayload.merged(with: payload))
    #expect(MessagingRules.findings(in: jwt, now: now).hints == expected)
  }
}
