import JSONRPC
import Randomness
import SDKProtocol
import Testing

@testable import DelegateBridge

@Suite struct OutputFormatTests {
  private static let now = Timestamp(secondsSince1970: 1_790_000_000)

  private func parse(
    _ text: String, _ format: ProviderFormat = .auto, _ name: BridgeQuestion.Name = .getToken
  ) throws -> BridgeAnswer {
    try OutputFormat.parse(Array(text.utf8), format: format, question: .sample(name), now: Self.now)
  }

  @Test(arguments: [ProviderFormat.auto, .raw]) func rawToken(format: ProviderFormat) throws {
    let answer = try parse("\n  eyJhbGciOiJIUzI1NiJ9.e30.c2ln \r\n", format, .invalidAuth)
    #expect(answer == BridgeAnswer(token: Secret("eyJhbGciOiJIUzI1NiJ9.e30.c2ln")))
  }

  @Test func json() throws {
    let answer = try parse(#"{"token": "abc", "expiresAt": 1790000000, "uniqueId": null}"#, .json)
    #expect(answer.token == Secret("abc"))
    #expect(answer.expiresAt == Timestamp(secondsSince1970: 1_790_000_000))
    #expect(answer.members.keys == ["token", "expiresAt"])
    #expect(try parse(#"{"uniqueId": "u"}"#).uniqueId == "u")
    #expect(try parse(#"{"scheme": "s", "signature": "x", "isEncrypted": true}"#).members.count == 3)
    #expect(try parse(#"{"defer": true}"#).isDeferred)
  }

  @Test func answersToTheOtherQuestions() throws {
    #expect(try parse(#"{"authenticate": false}"#, .auto, .shouldAuthenticate).authenticate == false)
    let full = try parse(#"{"authenticate": true, "settings": {"a": 1}}"#, .json, .shouldAuthenticate)
    #expect(full.settings == ["a": 1])
    #expect(try parse(#"{"proceed": true}"#, .json, .authenticationFailed).proceed == true)
  }

  /// The output of `aws eks get-token` and `kubelogin get-token`.
  @Test(arguments: [ProviderFormat.auto, .execCredential]) func execCredential(format: ProviderFormat) throws {
    let answer = try parse(
      #"""
      {"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1", "spec": {"interactive": false},
       "status": {"expirationTimestamp": "2026-09-21T14:13:20Z", "token": "k8s-aws-v1.aHR0cHM6"}}
      """#, format)
    #expect(answer.token == Secret("k8s-aws-v1.aHR0cHM6"))
    #expect(answer.expiresAt == Timestamp(secondsSince1970: 1_790_000_000))
  }

  /// The output shown in google-auth's documentation of executable-sourced credentials.
  @Test(arguments: [ProviderFormat.auto, .googleExecutable]) func googleExecutable(format: ProviderFormat) throws {
    let answer = try parse(
      #"""
      {"version": 1, "success": true, "token_type": "urn:ietf:params:oauth:token-type:id_token",
       "id_token": "HEADER.PAYLOAD.SIGNATURE", "expiration_time": 1790000000}
      """#, format)
    #expect(answer.token == Secret("HEADER.PAYLOAD.SIGNATURE"))
    #expect(answer.expiresAt == Timestamp(secondsSince1970: 1_790_000_000))
  }

  @Test("A token endpoint's answer gives the token and its end", arguments: [ProviderFormat.auto, .oauth])
  func tokenEndpoint(format: ProviderFormat) throws {
    let text = #"{"access_token": "a", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r", "scope": "x"}"#
    let answer = try parse(text, format)
    #expect(answer.token == Secret("a"))
    #expect(answer.expiresAt == Self.now + 3600)
    #expect(answer.members["refreshToken"] == "r")
    #expect(try parse(#"{"access_token": "a", "expires_in": "60"}"#, format).expiresAt == Self.now + 60)
    #expect(try parse(#"{"access_token": "a", "expires_in": null}"#, format).expiresAt == nil)
    #expect(try parse(#"{"access_token": "a", "expires_in": 1e300}"#, format).expiresAt == nil)
  }

  @Test(
    "A token endpoint's answer that can't be used is refused",
    arguments: [
      #"{"access_token": ""}"#, #"{"access_token": 1}"#, #"{"access_token": "a", "expires_in": -1}"#,
      #"{"access_token": "a", "expires_in": "soon"}"#, #"{"access_token": "a", "expires_in": "inf"}"#, #"{}"#,
      #"{"error": 5}"#,
    ])
  func badTokenEndpoint(text: String) throws {
    let error = #expect(throws: SDKError.self) { try parse(text, .oauth) }
    #expect(error?.reason == .providerOutputInvalid)
  }

  @Test("A token endpoint's refusal gives its code and description")
  func refusalOfATokenEndpoint() throws {
    let error = #expect(throws: SDKError.self) {
      try parse(#"{"error": "invalid_grant", "error_description": "Session over."}"#, .oauth)
    }
    #expect(error?.reason == .providerFailed && error?.vendorCode == "invalid_grant")
    #expect(error?.vendorDescription == "Session over.")
  }

  @Test func googleFailureReachesTheCallerMasked() throws {
    let error = #expect(throws: SDKError.self) {
      try parse(#"{"version": 1, "success": false, "code": "401", "message": "Caller not authorized, token=abc\n."}"#)
    }
    #expect(error?.reason == .providerFailed)
    #expect(error?.vendorCode == "401")
    #expect(error?.vendorDescription == "Caller not authorized, token=‹masked› .")
  }

  /// The output of `git-credential-oauth get`.
  @Test func gitCredential() throws {
    let answer = try parse(
      "protocol=https\nusername=oauth2\r\npassword=a=b c\npassword_expiry_utc=1790000000\noauth_refresh_token=r\n\nx",
      .gitCredential)
    #expect(answer.token == Secret("a=b c"))
    #expect(answer.expiresAt == Timestamp(secondsSince1970: 1_790_000_000))
    #expect(answer.secret("refreshToken") == Secret("r"))
    let error = #expect(throws: SDKError.self) { try parse("quit=1\n", .gitCredential) }
    #expect(error?.reason == .providerDenied)
  }

  @Test(arguments: [
    ("", ProviderFormat.auto, "nothing"), (" \n", .raw, "nothing"), ("two words", .auto, "more than one word"),
    ("one\ntwo", .raw, "more than one word"), ("tök", .raw, "printable"), ("{", .auto, "not JSON"),
    ("[]", .json, "array"), ("{}", .json, "without token"), (#"{"tokn": "hush"}"#, .json, "did it mean token?"),
    (#"{"zzzzzzzzzzzzzzz": "hush"}"#, .json, "known are token"), (#"{"token": 1}"#, .json, "must be a string"),
    (#"{"token": ""}"#, .json, "empty token"), (#"{"token": "hush", "expiresAt": "soon"}"#, .json, "expiresAt"),
    (#"{"token": "hush", "expiresAt": 1790000000000}"#, .json, "expiresAt"), (#"{"defer": false}"#, .json, "defer"),
    (#"{"defer": true, "token": "hush"}"#, .json, "defer"), (#"{"token":"hush","token":"hush"}"#, .json, "not JSON"),
    (#"{"apiVersion": "client.authentication.k8s.io/v2"}"#, .auto, "ExecCredential"),
    (
      #"{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {}}"#, .auto,
      "status.token"
    ),
    (#"{"success": "yes"}"#, .auto, "true or false"), (#"{"success": true, "id_token": ""}"#, .auto, "empty token"),
    (#"{"success": true, "saml_response": "hush"}"#, .auto, "SAML"), (#"{"success": true}"#, .auto, "neither"),
    (#"{"version": 2, "success": true, "id_token": "hush"}"#, .auto, "another version"),
    (#"{"success": true, "id_token": "hush", "expiration_time": "x"}"#, .auto, "expiration_time"),
    ("hush", .gitCredential, "without ="), ("username=hush", .gitCredential, "no password"),
    ("password=hush\npassword_expiry_utc=x", .gitCredential, "password_expiry_utc"),
    ("password=", .gitCredential, "empty token"),
  ]) func refuses(text: String, format: ProviderFormat, why: String) throws {
    let error = #expect(throws: SDKError.self) { try parse(text, format) }
    #expect(error?.reason == .providerOutputInvalid)
    #expect(error?.message.contains(why) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("hush") == false)
    #expect(error?.message.contains("zzz") == false)
  }

  @Test(arguments: [ProviderFormat.raw, .auto], [BridgeQuestion.Name.shouldAuthenticate, .authenticationFailed])
  func tokenAnswersNoOtherQuestion(format: ProviderFormat, name: BridgeQuestion.Name) throws {
    let error = #expect(throws: SDKError.self) { try parse("token", format, name) }
    #expect(error?.reason == .providerOutputInvalid)
  }

  @Test(arguments: BridgeQuestion.Name.allCases, ProviderFormat.allCases)
  func anyBytesAreAnsweredOrRefused(name: BridgeQuestion.Name, format: ProviderFormat) throws {
    var random = SeededGenerator(seed: 7)
    let seeds = [
      #"{"token":"a"}"#, "password=a\n", #"{"success":true,"id_token":"x"}"#, #"{"apiVersion":"a","status":1}"#,
      #"{"access_token":"a","expires_in":1}"#,
    ]
    let question = try BridgeQuestion.sample(name)
    for _ in 0..<500 {
      var bytes = Array((seeds.randomElement(using: &random) ?? "").utf8)
      for _ in 0..<Int.random(in: 0..<4, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      do throws(SDKError) {
        _ = try OutputFormat.parse(bytes, format: format, question: question, now: Self.now)
      } catch {
        #expect([.providerOutputInvalid, .providerFailed, .providerDenied].contains(error.reason))
      }
    }
  }
}
