import JSONRPC
import SDKInstances
import SDKProtocol

/// A response of the vendor and its meaning. Refusals have three forms: `{error,
/// error_description}` of the token services, `[{errorCode, message}]` of the REST API, and plain text of the identity
/// services.
struct SalesforceAnswer {
  static let vendor = "Salesforce"

  private let status: Int
  private let retryAfter: Double
  private let requestedWait: Double?
  private let json: JSON?
  private let text: String
  private let code: String?
  private let description: String?
  private let isEmpty: Bool

  init(_ response: HTTPResponseParts) {
    status = response.status
    retryAfter = response.retryAfter
    requestedWait = response.requestedWait
    isEmpty = response.isBlank
    json = isEmpty ? .null : try? JSONParser.parse(response.body, .server)
    text = String(decoding: response.body.prefix(64), as: UTF8.self)
    let entry = json?.arrayValue?.first ?? json
    code = entry?["errorCode"]?.stringValue ?? entry?["error"]?.stringValue
    description = entry?["message"]?.stringValue ?? entry?["error_description"]?.stringValue
  }

  /// Returns the body of a successful request to a resource; `null` for an empty body.
  ///
  /// - Parameter isIdentityService: whether the resource is below `/services/oauth2`. There a 403 with
  ///   `Bad_OAuth_Token` refuses the token, and any other 403 refuses the request.
  func resource(isIdentityService: Bool = false) throws(SDKError) -> JSON {
    switch status {
    case 200..<300:
      guard let json else {
        throw unusable(.badResponse, "answered with something that is not JSON; check instanceUrl.")
      }
      return json
    case 401: throw refused
    case 403:
      if isIdentityService, isBadToken { throw refused }
      if code == "REQUEST_LIMIT_EXCEEDED" { throw rateLimited }
      throw vendor(.forbidden, "does not let this user do that; check the user's permissions.")
    case 404: throw vendor(.notFound, "knows no such resource; check instanceUrl and api_version.")
    default: throw unexpected
    }
  }

  var isSuccess: Bool { (200..<300).contains(status) }

  /// Whether the token service refused without an explanation, as some do for an invalid refresh token.
  var isEmptyRefusal: Bool { status == 400 && isEmpty }

  /// Returns the body of the token service's response.
  ///
  /// - Parameter wasRefused: whether the same refresh token met an empty refusal before. The first one may be a proxy's
  ///   fault; the second one refuses the token.
  /// - Throws: `invalidGrant`, `invalidClient`, `forbidden`; the errors of an unreachable vendor.
  func tokens(wasRefused: Bool = false) throws(SDKError) -> JSON {
    switch (status, code) {
    case (400, nil) where isEmpty && wasRefused:
      throw vendor(.invalidGrant, "refused the refresh token twice and did not say why; sign in again.")
    case (200..<300, _):
      guard let json, json["access_token"]?.stringValue ?? json["refresh_token"]?.stringValue != nil else {
        throw unusable(.badResponse, "answered a refresh with something that holds no access_token; check login_url.")
      }
      return json
    case (400, "invalid_grant"), (400, "invalid_token"):
      throw vendor(.invalidGrant, "refused the refresh token; sign in again.")
    case (400, "rate_limit_exceeded"), (403, "rate_limit_exceeded"): throw rateLimited
    case (400, "inactive_user"), (400, "inactive_org"):
      throw vendor(.forbidden, "says that the user or the organisation is not active; ask its administrator.")
    case (400, _?), (401, _?), (403, _?):
      throw vendor(
        .invalidClient, "does not take this connected app; check client_id, client_secret and login_url.")
    default: throw unexpected
    }
  }

  /// Throws unless the token is revoked or was no longer valid.
  func checkRevoked() throws(SDKError) {
    switch (status, code) {
    case (200..<300, _), (400, "invalid_token"), (400, "unsupported_token_type"): return
    case (400...404, _?): throw vendor(.invalidClient, "does not revoke the token; check login_url.")
    default: throw unexpected
    }
  }

  private var isBadToken: Bool {
    // Some front ends append a line end.
    text.split(whereSeparator: \.isWhitespace).first.map { $0 == "Bad_OAuth_Token" } ?? false
  }

  private var refused: SDKError {
    SDKError(
      .vendor, .invalidAuth, "\(Self.vendor) refused the access token; it has expired or was revoked.",
      httpStatus: status, vendorCode: code ?? (isBadToken ? "Bad_OAuth_Token" : nil), vendorDescription: description)
  }

  private var rateLimited: SDKError {
    unusable(.rateLimited, "asks for fewer requests; try again later.", retryAfter: retryAfter)
  }

  private var unexpected: SDKError {
    switch status {
    case 429: rateLimited
    case 500...:
      unusable(.serverError, "answered with status \(status); try again later.", retryAfter: requestedWait)
    default: unusable(.badResponse, "answered with status \(status) and nothing that explains it; check the URLs.")
    }
  }

  private func vendor(_ reason: Reason, _ sentence: String) -> SDKError {
    SDKError(
      .vendor, reason, "\(Self.vendor) \(sentence)", httpStatus: status, vendorCode: code,
      vendorDescription: description)
  }

  private func unusable(_ reason: Reason, _ sentence: String, retryAfter: Double? = nil) -> SDKError {
    SDKError(
      .unreachable, reason, "\(Self.vendor) \(sentence)", retryAfter: retryAfter, httpStatus: status, vendorCode: code,
      vendorDescription: description)
  }
}
