import JSONRPC
import SDKProtocol
import Testing

@testable import JWTRules

/// The rules of Messaging for In-App and Web for an identity JWT.
@Suite struct InAppRulesTests {
  private let now = Timestamp(secondsSince1970: 1_800_000_000)

  @Test(
    "An identity JWT has rules of its own",
    arguments: [
      ([:], [:], []), (["alg": "RS512"], [:], []), (["alg": "HS256"], [:], ["algNotRSA"]),
      (["alg": nil], [:], ["algMissing"]), (["kid": nil], [:], ["kidMissing"]), ([:], ["sub": nil], ["subMissing"]),
      ([:], ["sub": 7], ["subMissing"]), ([:], ["iss": ""], ["issMissing"]), ([:], ["sub": "a b"], ["subWhiteSpace"]),
      ([:], ["iat": nil], ["iatMissing"]), ([:], ["exp": nil], ["expRequired", "expMissing"]),
      ([:], ["exp": 1_799_999_990], ["expiredJWT"]),
    ] as [(JSONObject, JSONObject, [String])])
  func rules(header: JSONObject, payload: JSONObject, expected: [String]) {
    let jwt = DecodedJWT(
      header: (["alg": "RS256", "kid": "k"] as JSONObject).merged(with: header),
      payload: (["sub": "alice", "iss": "https://a.b", "iat": 1_799_999_900, "exp": 1_800_000_200] as JSONObject)
        .merged(with: payload))
    let found = InAppRules.findings(in: jwt, now: now).filter { $0.severity != .note }.map(\.name)
    #expect(found == expected)
  }
}
