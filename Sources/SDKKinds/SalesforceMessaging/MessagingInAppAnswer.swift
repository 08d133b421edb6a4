import JSONRPC
import SDKInstances
import SDKProtocol

/// A response of the vendor, with the error that it stands for.
struct MessagingInAppAnswer {
  static let vendor = "Salesforce Messaging"

  let response: HTTPResponseParts
  private let body: JSON?

  init(_ response: HTTPResponseParts) {
    self.response = response
    body = try? JSONParser.parse(response.body, .server)
  }

  /// The seconds to wait after a refusal for too many requests that does not say how long.
  private static let pause = 60.0

  var isSuccess: Bool { (200..<300).contains(response.status) }

  /// Returns the body of a successful response.
  ///
  /// - Throws: `badResponse` if it is not JSON.
  func accepted() throws(SDKError) -> JSON {
    guard let body else { throw VendorStatus(response, vendor: Self.vendor, setting: "base_url").notJSON }
    return body
  }

  /// Returns a token of a response; `nil` for a value that can't be one.
  static func token(_ value: JSON?) -> Secret? {
    guard let text = value?.stringValue, (1...TextLimits.token).contains(text.utf8.count),
      OpaqueText.mistake(Secret(text)) == nil, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    return Secret(text)
  }

  /// The refresh token of a response whatever else is in it; `nil` without one.
  var refreshToken: Secret? { Self.token(body?["refreshToken"]) }

  /// Returns the error of an exchange of an identity JWT that the vendor did not accept.
  ///
  /// - Parameter hints: what the local checks found in the JWT.
  func exchangeFailure(hasExpired: Bool, hints: [String]) -> SDKError {
    if let configuration { return configuration }
    switch response.status {
    case 400, 401, 403:
      let isExpired = hasExpired || words.contains("expired")
      return refused(
        isExpired ? .expiredJWT : .invalidAuth,
        isExpired
          ? "The JWT has expired. Sign in again with a new one."
          : "\(Self.vendor) refused the JWT; check its signature, kid and iss against the channel's keyset.",
        hints: hints)
    default: return failure
    }
  }

  /// Returns the error of a request with an access token that was not accepted.
  var callFailure: SDKError {
    switch response.status {
    case 401: return refused(.invalidAuth, "\(Self.vendor) refused the access token; it is over, or was revoked.")
    case 423 where code == nil:
      return refused(.invalidAuth, "\(Self.vendor) does not take the access token now; a new one is needed.")
    case 403: return refused(.forbidden, "\(Self.vendor) does not let this user do that.")
    case 404: return refused(.notFound, "\(Self.vendor) knows no such deployment; check base_url and developer_name.")
    default: return failure
    }
  }

  /// Returns the error of a guest's renewal that was not accepted.
  var renewalFailure: SDKError {
    switch response.status {
    case 400, 401, 403: return refused(.invalidAuth, "\(Self.vendor) refused the guest's refresh token.")
    default: return callFailure
    }
  }

  /// The refusal of an exchange for a reason in the account, which no other JWT changes; `nil` for another response.
  private var configuration: SDKError? {
    guard (400..<500).contains(response.status), response.status != 429, response.status != 423 else { return nil }
    if words.contains("captcha") {
      return refused(.forbidden, "\(Self.vendor) asks for a captcha, which is not supported; switch it off.")
    }
    if words.contains("authschemes") {
      return refused(.forbidden, "\(Self.vendor) has no active user verification for the channel; activate it there.")
    }
    if response.status == 404 {
      return refused(.notFound, "\(Self.vendor) knows no such deployment; check base_url, org_id and developer_name.")
    }
    if words.contains("deployment") || words.contains("organization") {
      return refused(.forbidden, "\(Self.vendor) does not serve this deployment; check org_id and developer_name.")
    }
    return nil
  }

  /// The error of a response that shows nothing about a credential.
  private var failure: SDKError {
    switch (response.status, code) {
    case (423, "ORG_NOT_SUPPORTED"?):
      return refused(.forbidden, "\(Self.vendor) does not serve this organisation here; check base_url.")
    case (423, _):
      return unreachable(
        .serverError, "\(Self.vendor) is in maintenance; try again later.", retryAfter: response.requestedWait)
    case (429, _):
      return unreachable(
        .rateLimited, "\(Self.vendor) asks for fewer requests; try again later.",
        retryAfter: response.headers["retry-after"] == nil ? Self.pause : response.retryAfter)
    default: return VendorStatus(response, vendor: Self.vendor, setting: "base_url").error
    }
  }

  private var code: String? { body?["errorCode"]?.stringValue }
  private var message: String? { body?["message"]?.stringValue }
  /// The vendor's words in lower case. They are clipped first, since they are only searched.
  private var words: String { (message ?? "").clipped(toUTF8: 2048).lowercased() }

  private func refused(_ reason: Reason, _ sentence: String, hints: [String] = []) -> SDKError {
    SDKError(
      .vendor, reason, sentence, httpStatus: response.status, vendorCode: response.sent.text(code),
      vendorDescription: response.sent.text(message), hints: hints)
  }

  private func unreachable(_ reason: Reason, _ sentence: String, retryAfter: Double?) -> SDKError {
    SDKError(
      .unreachable, reason, sentence, retryAfter: retryAfter, httpStatus: response.status,
      vendorCode: response.sent.text(code), vendorDescription: response.sent.text(message))
  }
}
