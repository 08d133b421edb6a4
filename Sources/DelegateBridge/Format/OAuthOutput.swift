import JSONRPC
import SDKProtocol

/// The answer of an OAuth 2.0 token endpoint (RFC 6749, 5.1 and 5.2).
enum OAuthOutput {
  static func parse(
    _ object: JSONObject, _ question: BridgeQuestion, now: Timestamp
  ) throws(SDKError) -> BridgeAnswer {
    if let failure = failure(object) { throw failure.error }
    guard let token = object["access_token"]?.stringValue else {
      throw .output("wrote an OAuth answer without access_token")
    }
    var expiry: JSON?
    if let lifetime = object["expires_in"], !lifetime.isNull {
      // A number according to the RFC; some servers write it as text.
      guard let seconds = lifetime.doubleValue ?? lifetime.stringValue.flatMap({ Double($0) }), seconds.isFinite,
        seconds >= 0
      else { throw .output("wrote an expires_in that is not in seconds") }
      // A lifetime that `Seconds` can't hold, a century or more, is treated as no expiry.
      if let seconds = Seconds(seconds) { expiry = .string((now + seconds.value).description) }
    }
    var answer = try OutputFormat.answer(token: token, expiresAt: expiry, format: .oauth, question)
    answer.members["refreshToken"] = object["refresh_token"]?.stringValue.map(JSON.string)
    return answer
  }

  /// Returns the failure that an answer reports; `nil` if it reports none.
  static func failure(_ object: JSONObject) -> ReportedFailure? {
    guard let code = object["error"]?.stringValue else { return nil }
    return ReportedFailure(code: code, message: object["error_description"]?.stringValue)
  }
}
