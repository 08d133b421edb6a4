import JSONRPC
import SDKInstances
import SDKProtocol

/// A response of the vendor and its meaning. Refusals have three forms: `{error, error_description}` of the token
/// services, `[{errorCode, message}]` of the REST API, and plain text of the identity services.
struct SalesforceAnswer {
  static let vendor = "Salesforce"

  private let response: HTTPResponseParts
  private let words: VendorWords

  init(_ response: HTTPResponseParts) {
    self.response = response
    words = VendorWords(response)
  }

  /// Returns the body of a successful request to a resource; `null` for an empty body.
  ///
  /// - Parameter isIdentityService: whether the resource is below `/services/oauth2`. There a 403 with
  ///   `Bad_OAuth_Token` refuses the token, and any other 403 refuses the request.
  func resource(isIdentityService: Bool = false) throws(SDKError) -> JSON {
    let setting = isIdentityService ? "instanceUrl" : "instanceUrl and api_version"
    switch (words.oauth, response.status) {
    case (.refusal?, _), (_, 401): throw refused
    case (_, 403):
      if isIdentityService, isBadToken { throw refused }
      if code == "REQUEST_LIMIT_EXCEEDED" { throw rateLimited }
      throw vendor(.forbidden, "does not let this user do that; check the user's permissions.")
    case (_, 404): throw vendor(.notFound, "knows no such resource; check instanceUrl and api_version.")
    case (nil, 200..<300):
      guard let json = words.body else { throw status(setting).notJSON }
      return json
    default: throw status(setting).error
    }
  }

  var isSuccess: Bool { (200..<300).contains(response.status) && words.oauth == nil }

  /// Whether the token service refused without an explanation, as some do for an invalid refresh token.
  var isEmptyRefusal: Bool { response.status == 400 && response.isBlank }

  /// Returns the body of the token service's response. An OAuth error counts with any status but those of a fault of the
  /// server.
  ///
  /// - Parameter wasRefused: whether the same refresh token met an empty refusal before. The first one may be a proxy's
  ///   fault; the second one refuses the token.
  /// - Throws: `invalidGrant`, `invalidClient`, `forbidden`; the errors of an unreachable vendor.
  func tokens(wasRefused: Bool = false) throws(SDKError) -> JSON {
    let isSuccess = (200..<300).contains(response.status)
    if isSuccess, let json = words.body, json["access_token"]?.stringValue ?? json["refresh_token"]?.stringValue != nil
    {
      return json
    }
    switch (response.status, words.oauth, code) {
    case (_, .refusal?, _): throw vendor(.invalidGrant, "refused the refresh token; sign in again.")
    case (_, .rate?, _): throw rateLimited
    case (400, nil, nil) where response.isBlank && wasRefused:
      throw vendor(.invalidGrant, "refused the refresh token twice and did not say why; sign in again.")
    case (200..<500, _, "inactive_user"?), (200..<500, _, "inactive_org"?):
      throw vendor(.forbidden, "says that the user or the organisation is not active; ask its administrator.")
    case (_, .client?, _), (400, nil, _?), (401, nil, _?), (403, nil, _?):
      throw vendor(
        .invalidClient, "does not take this connected app; check client_id, client_secret and login_url.")
    case (200..<300, nil, nil) where words.body != nil:
      throw unusable(.badResponse, "answered a refresh with something that holds no access_token; check login_url.")
    case (200..<300, nil, nil): throw status("login_url").notJSON
    case (200..<300, nil, _?):
      throw unusable(.badResponse, "answered a refresh with an error; see its code, and check login_url.").permanent
    // The empty refusal may be a proxy's fault, so waiting can help.
    case (400, nil, nil): throw unusable(.badResponse, "refused a refresh and did not say why; check login_url.")
    default: throw status("login_url").error
    }
  }

  /// Throws unless the token is revoked or was no longer valid.
  func checkRevoked() throws(SDKError) {
    switch (response.status, code) {
    case (200..<300, nil), (_, "invalid_token"?), (400, "unsupported_token_type"?): return
    case (200...404, _?): throw vendor(.invalidClient, "does not revoke the token; check login_url.")
    default: throw status("login_url").error
    }
  }

  private var code: String? { words.code?.text }

  private var isBadToken: Bool {
    // Some front ends append a line end.
    let text = String(decoding: response.body.prefix(64), as: UTF8.self)
    return text.split(whereSeparator: \.isWhitespace).first.map { $0 == "Bad_OAuth_Token" } ?? false
  }

  private var refused: SDKError {
    SDKError(
      .vendor, .invalidAuth, "\(Self.vendor) refused the access token; it has expired or was revoked.",
      httpStatus: response.status, vendorCode: words.code ?? (isBadToken ? "Bad_OAuth_Token" : nil),
      vendorDescription: words.description)
  }

  private var rateLimited: SDKError {
    unusable(.rateLimited, "asks for fewer requests; try again later.", retryAfter: response.retryAfter)
  }

  private func status(_ setting: String) -> VendorStatus {
    VendorStatus(response, vendor: Self.vendor, setting: setting, words)
  }

  private func vendor(_ reason: Reason, _ sentence: String) -> SDKError {
    SDKError(
      .vendor, reason, "\(Self.vendor) \(sentence)", httpStatus: response.status, vendorCode: words.code,
      vendorDescription: words.description)
  }

  private func unusable(_ reason: Reason, _ sentence: String, retryAfter: Double? = nil) -> SDKError {
    SDKError(
      .unreachable, reason, "\(Self.vendor) \(sentence)", retryAfter: retryAfter, httpStatus: response.status,
      vendorCode: words.code, vendorDescription: words.description)
  }
}
