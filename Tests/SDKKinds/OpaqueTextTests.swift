import DelegateBridge
import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

/// The local gate of opaque credentials, in each kind and member that has one.
@Suite struct OpaqueTextTests {
  static let mistakes = [
    "null", "NULL", "undefined", "None", "nil", "true", "False", " null\t", "\"abc\"", "'abc'", "\u{201C}abc", "<html>",
    " <!doctype html>", "\u{FEFF}abc",
  ]
  /// Credentials with the words that precede them in a header. Edna's servers take it.
  static let schemes = ["Bearer abc", " bearer abc", "Authorization: abc", "authorization: Bearer abc"]

  @Test("What programs print in place of a credential is none", arguments: mistakes + schemes)
  func refused(text: String) { #expect(OpaqueText.mistake(Secret(text)) != nil) }

  @Test(
    "Anything else may be one",
    arguments: ["abc", "nullable", "none-1", "truer", "a\"b", "a<b", "0", "Bearer", "bearers of", "abc bearer"])
  func accepted(text: String) { #expect(OpaqueText.mistake(Secret(text)) == nil) }

  @Test("Edna's token may have the word Bearer before it", arguments: schemes)
  func ednaScheme(text: String) throws {
    #expect(OpaqueText.mistake(Secret(text), mayHaveScheme: true) == nil)
    let given = try JSONValueDecoder.decode(EdnaAuth.self, from: ["token": .string(text)])
    #expect(throws: Never.self) { try given.checkGiven() }
  }

  private func error(_ work: () throws(SDKError) -> Void) -> SDKError? {
    do throws(SDKError) {
      try work()
      return nil
    } catch {
      return error
    }
  }

  @Test("Each kind refuses it from a provider and from a caller, in each member", arguments: mistakes + schemes)
  func members(text: String) throws {
    let now = SupportAdapter.now
    for member in ["token", "scheme", "signature"] where !Self.schemes.contains(text) {
      var members: JSONObject = ["token": "t", member: .string(text)]
      let held = try JSONValueDecoder.decode(EdnaAuth.self, from: ["token": "good", "scheme": "s"])
      let answered = error { () throws(SDKError) in _ = try held.answered(members, now: now) }
      #expect(answered?.reason == .providerOutputInvalid, "edna's \(member)")
      members["token"] = members["token"] ?? "t"
      let given = try JSONValueDecoder.decode(EdnaAuth.self, from: .object(members))
      let refused = error { () throws(SDKError) in try given.checkGiven() }
      #expect(refused?.reason == .invalidAuthParameters && refused?.member == "auth.\(member)", "edna's \(member)")
    }
    let support = try SupportAdapter.at(SupportVendor())
    for answer in [BridgeAnswer(members: ["uniqueId": .string(text)]), BridgeAnswer(token: Secret(text))] {
      #expect(
        error { () throws(SDKError) in _ = try support.supplied(answer) }?.reason == .providerOutputInvalid, "support")
    }
    let unique = error { () throws(SDKError) in _ = try SupportLint.check(Secret(text), isStrict: false) }
    #expect(unique?.reason == .invalidAuthParameters && unique?.member == "identity.token")
    for member in ["accessToken", "refreshToken"] where !text.contains(where: { $0.isWhitespace || !$0.isASCII }) {
      let members: JSONObject = ["instanceUrl": "https://a.b", "accessToken": "t", member: .string(text)]
      let refused = error { () throws(SDKError) in _ = try AuthenticationSettings(members) }
      #expect(refused?.reason == .invalidAuthParameters && refused?.member == "settings.\(member)", "\(member)")
    }
  }

  @Test("A vendor's token that is none is a bad answer", arguments: ["null", "\"x\"", "<html>"])
  func vendors(text: String) {
    let access = VendorAnswer.accepted(["authentication": ["access_token": .string(text), "user_id": 7]])
    #expect(
      error { () throws(SDKError) in _ = try SupportAccess(access, type: .jwt, hints: []) }?.reason == .badResponse)
    let user: JSON = ["appUser": ["_id": "u1"], "sessionToken": .string(text)]
    #expect(error { () throws(SDKError) in _ = try MessagingUser(user, without: .none) }?.reason == .badResponse)
    let grant: JSON = ["success": true, "id_token": .string(text)]
    let response = HTTPResponseParts(status: 200, body: JSONWriter.bytes(of: grant))
    #expect(error { () throws(SDKError) in _ = try ChatGrant(response, hints: []) }?.reason == .badResponse)
  }
}
