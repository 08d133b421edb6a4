import JSONRPC
import SDKProtocol
import Testing

@testable import sdkctl

struct JWTTests {
  private let now = Timestamp(secondsSince1970: 1_800_000_000)
  private let goodHeader: JSONObject = ["alg": "HS256", "typ": "JWT", "kid": "app_1"]
  private let goodPayload: JSONObject = [
    "scope": "user", "external_id": "alice", "iat": 1_799_999_900, "exp": 1_800_000_200,
  ]

  private func names(_ header: JSONObject = [:], _ payload: JSONObject = [:]) -> [String] {
    let jwt = DecodedJWT(header: goodHeader.merged(with: header), payload: goodPayload.merged(with: payload))
    return JWTFinding.all(in: jwt, now: now).filter { $0.severity != .note }.map(\.name)
  }

  @Test func nothingIsWrong() {
    #expect(names().isEmpty)
  }

  @Test(
    arguments: [
      (["alg": "RS256"], "algNotHS256"), (["alg": nil], "algMissing"), (["alg": "none"], "algNotHS256"),
      (["kid": nil], "kidMissing"), (["kid": ""], "kidMissing"), (["typ": "at+jwt"], "typNotJWT"),
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
      (["external_id": ""], "externalIdEmpty"),
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
    #expect(JWTFinding.all(in: jwt, now: now).map(\.name) == ["scopeLegacy", "lifetime"])
  }

  private let goodChat: JSONObject = [
    "name": "Alice", "email": "alice@example.test", "external_id": "alice-7", "iat": 1_799_999_900,
    "exp": 1_800_000_200,
  ]

  private func names(chat payload: JSONObject) -> [String] {
    var claims = goodChat.merged(with: payload)
    for change in payload.members where change.value.isNull { claims[change.key] = nil }
    let jwt = DecodedJWT(header: ["alg": "HS256"], payload: claims)
    return JWTFinding.all(in: jwt, for: .chat, now: now).filter { $0.severity != .note }.map(\.name)
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
    func names(_ audience: JWTAudience, _ header: JSONObject, _ payload: JSONObject) -> [String] {
      JWTFinding.all(in: DecodedJWT(header: header, payload: payload), for: audience, now: now)
        .filter { $0.severity != .note }.map(\.name)
    }
    #expect(names(.support, ["alg": "HS256"], ["exp": 1_800_000_200]) == ["nameMissing", "emailMissing"])
    #expect(names(.support, ["alg": "HS256"], goodChat).isEmpty)
    for audience in [JWTAudience.salesforce, .edna] {
      #expect(names(audience, ["alg": "RS256"], ["exp": 1_800_000_200]).isEmpty)
      #expect(names(audience, ["alg": "RS256"], ["exp": 1_800_000_000]) == ["expiredJWT"])
    }
  }

  @Test("The verb takes an SDK by its kind and by its short name")
  func audiences() async {
    for audience in JWTAudience.allCases { #expect(JWTAudience(argument: audience.rawValue) == audience) }
    let run = Run()
    // {"alg":"HS256"} . {"external_id":"m"}
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJleHRlcm5hbF9pZCI6Im0ifQ.c2VjcmV0\n"
    for name in ["chat", "zendesk.chat"] {
      #expect(await run.status("lint-jwt", "--sdk", name, input: jwt) == 1)
      #expect(run.output.contains("iatMissing"))
      #expect(!run.output.contains("kidMissing"))
    }
    #expect(await run.status("lint-jwt", "--sdk", "other", input: jwt) == 2)
  }

  @Test(arguments: [("", ""), ("TQ", "M"), ("TWE", "Ma"), ("TWFu", "Man"), ("_-8", "\u{FF}\u{EF}")])
  func base64URL(_ text: String, _ expected: String) {
    #expect(DecodedJWT.base64URL(Substring(text)) == expected.unicodeScalars.map { UInt8($0.value) })
  }

  @Test(arguments: ["", "a.b", "a.b.c", "eyJ9.eyJ9.", "e30.e30.=", "e30.W10.", "e30.e30.e30.e30", "e30.e30.a"])
  func noJWT(_ text: String) {
    #expect(DecodedJWT(text) == nil)
  }

  @Test func theVerbShowsClaimsAndNoSignature() async {
    let run = Run()
    let status = await run.status("lint-jwt", input: "eyJhbGciOiJIUzI1NiJ9.eyJleHRlcm5hbF9pZCI6Im0ifQ.c2VjcmV0\n")
    #expect(status == 0)
    #expect(run.output.contains(#""HS256""#))
    #expect(run.output.contains("kidMissing"))
    #expect(!run.output.contains("c2VjcmV0"))
    #expect(run.calls.isEmpty)
  }

  @Test func theVerbFailsForWhatWouldBeRefused() async throws {
    let run = Run()
    #expect(await run.status("lint-jwt", "-o", "json", input: "eyJhbGciOiJIUzI1NiJ9.eyJleHRlcm5hbF9pZCI6MX0.x-8") == 1)
    let findings = try JSONParser.parse(run.output)["findings"]?.arrayValue ?? []
    #expect(findings.first?["name"] == "externalIdNotString")
    #expect(await run.status("lint-jwt", input: "s3cret") == 1)
    #expect(!run.errors.contains("s3cret"))
  }
}
