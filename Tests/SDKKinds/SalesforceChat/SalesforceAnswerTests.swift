import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

/// The meaning of the vendor's responses, in each of their forms.
@Suite struct SalesforceAnswerTests {
  private typealias Meaning = (origin: SDKError.Origin, reason: Reason)

  private func answer(_ status: Int, _ body: String, _ headers: [String: String] = [:]) -> SalesforceAnswer {
    SalesforceAnswer(HTTPResponseParts(status: status, headers: headers, body: Array(body.utf8)))
  }

  private func error(_ work: () throws(SDKError) -> Void) -> SDKError? {
    do throws(SDKError) {
      try work()
      return nil
    } catch {
      return error
    }
  }

  private static let resources: [(status: Int, body: String, identity: Bool, reason: Reason?)] = [
    (200, "{}", true, nil), (204, "", false, nil), (200, " \n", false, nil),
    (200, #"{"a":"\ud83d"}"#, true, nil), (200, "<html>", false, .badResponse),
    (401, #"[{"errorCode":"INVALID_SESSION_ID","message":"x"}]"#, false, .invalidAuth), (401, "", false, .invalidAuth),
    (403, "Bad_OAuth_Token", true, .invalidAuth), (403, "Bad_OAuth_Token\r\n", true, .invalidAuth),
    (403, "Bad_OAuth_Token", false, .forbidden), (403, "Missing_OAuth_Token", true, .forbidden),
    (403, "", true, .forbidden), (403, #"[{"errorCode":"API_DISABLED_FOR_ORG"}]"#, true, .forbidden),
    (403, #"[{"errorCode":"REQUEST_LIMIT_EXCEEDED"}]"#, false, .rateLimited), (404, "[]", false, .notFound),
    (429, "", false, .rateLimited), (500, "", false, .serverError), (503, "<html>", true, .serverError),
    (302, "", false, .badResponse), (400, "{", false, .badResponse),
  ]

  @Test(arguments: resources)
  func resourcesSaveTheTokenUnlessItIsRefused(status: Int, body: String, identity: Bool, reason: Reason?) {
    let found = error { () throws(SDKError) in
      _ = try answer(status, body).resource(isIdentityService: identity)
    }
    #expect(found?.reason == reason)
    let origin: SDKError.Origin = [.invalidAuth, .forbidden, .notFound].contains(reason) ? .vendor : .unreachable
    #expect(found == nil || found?.origin == origin)
  }

  private static let tokens: [(status: Int, body: String, reason: Reason?)] = [
    (200, #"{"access_token":"a"}"#, nil), (200, #"{"access_token":5}"#, .badResponse), (200, "", .badResponse),
    (200, "[1]", .badResponse), (400, #"{"error":"invalid_grant","error_description":"x"}"#, .invalidGrant),
    (400, #"{"error":"invalid_token"}"#, .invalidGrant), (400, #"{"error":"invalid_client"}"#, .invalidClient),
    (400, #"{"error":"invalid_client_id"}"#, .invalidClient), (401, #"{"error":"invalid_client"}"#, .invalidClient),
    (400, #"{"error":"inactive_user"}"#, .forbidden), (400, #"{"error":"rate_limit_exceeded"}"#, .rateLimited),
    (400, "", .badResponse), (400, "null", .badResponse), (401, "<html>", .badResponse), (429, "", .rateLimited),
    (500, #"{"error":"invalid_grant"}"#, .serverError), (302, "", .badResponse),
  ]

  @Test(arguments: tokens)
  func onlyInvalidGrantRefusesARefreshToken(status: Int, body: String, reason: Reason?) {
    let found = error { () throws(SDKError) in _ = try answer(status, body).tokens() }
    #expect(found?.reason == reason)
    #expect((found?.origin == .vendor) == [.invalidGrant, .invalidClient, .forbidden].contains(reason))
  }

  @Test func aRevocationIsOverWhenTheTokenIsNoneAnyMore() {
    for (status, body) in [
      (200, ""), (400, #"{"error":"invalid_token"}"#), (400, #"{"error":"unsupported_token_type"}"#),
    ] {
      #expect(error { () throws(SDKError) in try answer(status, body).checkRevoked() } == nil)
    }
    #expect(error { () throws(SDKError) in try answer(503, "").checkRevoked() }?.origin == .unreachable)
    #expect(error { () throws(SDKError) in try answer(401, #"{"error":"x"}"#).checkRevoked() }?.origin == .vendor)
  }

  @Test func theVendorSaysHowLongToWait() {
    func wait(_ value: String?) -> Double? {
      let headers = value.map { ["retry-after": $0] } ?? [:]
      return error { () throws(SDKError) in _ = try answer(429, "", headers).resource() }?.retryAfter
    }
    #expect(wait("17") == 17)
    for odd in [nil, "soon", "-1", "nan", "Wed, 21 Oct 2026 07:28:00 GMT"] { #expect(wait(odd) == 5) }
    #expect(wait("1e300") == 3600)
  }

  @Test func theVendorsWordsAreKept() {
    let found = error { () throws(SDKError) in
      _ = try answer(401, #"[{"errorCode":"INVALID_SESSION_ID","message":"Session expired or invalid"}]"#).resource()
    }
    #expect(found?.vendorCode == "INVALID_SESSION_ID")
    #expect(found?.vendorDescription == "Session expired or invalid")
    #expect(found?.httpStatus == 401)
  }
}
