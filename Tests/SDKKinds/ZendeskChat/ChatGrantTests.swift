import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

/// The response to the exchange. Its body shows whether it succeeded, not its status.
@Suite struct ChatGrantTests {
  private func read(_ status: Int, _ body: String, headers: [String: String] = [:]) throws(SDKError) -> ChatGrant {
    try ChatGrant(
      HTTPResponseParts(status: status, headers: headers, body: Array(body.utf8), sent: [Secret("the.j.wt")]),
      hints: ["lint"])
  }

  private func refusal(_ status: Int, _ body: String, headers: [String: String] = [:]) -> SDKError? {
    do throws(SDKError) {
      _ = try read(status, body, headers: headers)
      return nil
    } catch {
      return error
    }
  }

  @Test func aGrantIsRead() throws {
    let grant = try read(200, #"{"success":true,"id_token":"zct","state":"s1","expires_in":60}"#)
    #expect(grant.idToken == Secret("zct"))
    #expect(grant.state == Secret("s1"))
    #expect(grant.expiresIn == 60)
    #expect(try read(200, #"{"success":true,"id_token":"zct","expires_in":"60"}"#).expiresIn == 60)
    #expect(try read(200, #"{"success":true,"id_token":"zct","expires_in":"inf"}"#).expiresIn == nil)
    let bare = try read(400, #"{"success":true,"id_token":"zct"}"#)
    #expect(bare.state == nil)
    #expect(bare.expiresIn == nil)
  }

  @Test("An id token or state that is too long is a bad answer")
  func lengths() {
    let long = String(repeating: "x", count: 16_385)
    #expect(refusal(200, #"{"success":true,"id_token":"\#(long)"}"#)?.reason == .badResponse)
    #expect(refusal(200, #"{"success":true,"id_token":"zct","state":"\#(long)"}"#)?.reason == .badResponse)
  }

  private static let table: [(error: String, details: String?, reason: Reason)] = [
    ("account key not found", nil, .invalidAccountKey), ("token not found", nil, .invalidAccessToken),
    ("failed to validate claims", "email is invalid", .invalidEmail),
    ("failed to validate claims", "name should be set", .invalidName),
    ("error fetching shared secret", nil, .invalidSharedSecret),
    ("failed to validate claims", "jwt token has expired", .tokenHasExpired),
    ("external ID has changed", nil, .externalUserIdHasChanged),
    ("internal server error", nil, .serverError),
    ("failed to validate claims", "iat is in the future", .invalidAccessToken),
    ("failed to validate claims", nil, .invalidAccessToken), ("the moon is full", nil, .invalidAccessToken),
  ]

  @Test(arguments: table, [200, 400, 401])
  func eachErrorHasItsReasonWhateverTheStatus(
    row: (error: String, details: String?, reason: Reason), status: Int
  ) throws {
    let details = row.details.map { #","details":"\#($0)""# } ?? ""
    let error = try #require(refusal(status, #"{"success":false,"error":"\#(row.error)"\#(details)}"#))
    #expect(error.reason == row.reason)
    #expect(error.origin == (row.reason == .serverError ? .unreachable : .vendor))
    #expect(error.httpStatus == status)
    #expect(error.vendorCode?.text == row.error)
    #expect(error.vendorDescription?.text == row.details)
    #expect(error.hints.contains("lint"))
  }

  private static let unusable: [(status: Int, body: String, reason: Reason)] = [
    (500, "{}", .serverError), (503, "down", .serverError), (429, "", .rateLimited), (302, "", .badResponse),
    (200, "<html>", .badResponse), (200, "", .badResponse), (200, "[]", .badResponse),
    (200, #"{"success":true}"#, .badResponse), (200, #"{"success":true,"id_token":""}"#, .badResponse),
    (200, #"{"success":true,"id_token":"x","expires_in":0}"#, .badResponse),
    (503, #"{"success":false,"error":"sandbox full"}"#, .serverError),
    (429, #"{"success":false,"error":"too many requests"}"#, .rateLimited),
  ]

  @Test(arguments: unusable)
  func whatSaysNothingOfTheTokenIsAnOutage(status: Int, body: String, reason: Reason) throws {
    let error = try #require(refusal(status, body, headers: ["retry-after": "7"]))
    #expect(error.origin == .unreachable)
    #expect(error.reason == reason)
    #expect(error.retryAfter == (reason == .badResponse ? nil : 7))
  }

  @Test func aRefusedSignatureHintsAtTheSecret() throws {
    let words = #"{"success":false,"error":"failed to validate token","details":"signature is invalid"}"#
    #expect(refusal(400, words)?.hints.contains(ChatGrant.secretHint) == true)
    let none = #"{"success":false,"error":"error fetching shared secret"}"#
    #expect(refusal(400, none)?.hints.contains(ChatGrant.secretHint) == true)
  }

  @Test func whatQuotesTheTokenIsNotRepeated() throws {
    let error = refusal(400, #"{"success":false,"error":"bad","details":["no","the.j.wt is bad"]}"#)
    #expect(error?.vendorCode == "bad")
    #expect(error?.vendorDescription == "no, ‹masked› is bad")
  }

  @Test func acknowledgementsAreTold() {
    #expect(ChatMediator.Verdict(#"{"__type":"register_ack","status":"ok"}"#) == .registered)
    #expect(ChatMediator.Verdict(#"{"__type":"register_ack","error":"dropped"}"#) == .dropped)
    #expect(ChatMediator.Verdict(#"{"error":"unauthorized"}"#) == .refused("unauthorized"))
    #expect(ChatMediator.Verdict(#"{"__type":"tree"}"#) == nil)
    #expect(ChatMediator.Verdict("no json") == nil)
  }
}
