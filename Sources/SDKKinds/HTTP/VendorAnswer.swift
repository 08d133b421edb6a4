import JSONRPC
import SDKInstances
import SDKProtocol

/// A vendor's response, classified by its status and body. All kinds share this table and `VendorStatus`.
enum VendorAnswer {
  /// Status 2xx, with the body as JSON; `null` for an empty body, and for one of 202 or 204 that is not JSON.
  case accepted(JSON)
  /// Status 401, or an OAuth error that refuses the credential.
  case unauthorized(status: Int, code: VendorText?, description: VendorText?)
  /// Status 403.
  case forbidden(code: VendorText?, description: VendorText?)
  /// Status 404.
  case notFound
  /// A response that does not show whether the credential is valid, as an error for callers.
  case unusable(SDKError)

  /// Classifies a response. A 2xx whose body is not JSON is `unusable`.
  ///
  /// - Parameter setting: the setting that holds the URL.
  init(_ response: HTTPResponseParts, vendor: String, setting: String = "base_url") {
    let words = VendorWords(response)
    switch (words.oauth, response.status) {
    case (.refusal?, _):
      self = .unauthorized(status: response.status, code: words.code, description: words.description)
    case (_, 401): self = .unauthorized(status: 401, code: words.code, description: words.description)
    case (_, 403): self = .forbidden(code: words.code, description: words.description)
    case (_, 404): self = .notFound
    case (nil, 200..<300):
      if let body = words.body {
        self = .accepted(body)
      } else {
        self = .unusable(VendorStatus(response, vendor: vendor, setting: setting, words).notJSON)
      }
    default: self = .unusable(VendorStatus(response, vendor: vendor, setting: setting, words).error)
    }
  }
}

/// The words of a vendor's response about an error, without secrets.
///
/// They have one of these forms: `{error: {code, description}}`, `{error, error_description}` (OAuth), `[{errorCode,
/// message}]`, and `{error, errorDetails}`.
struct VendorWords {
  /// The body as JSON: `null` for an empty body, and for one of 202 or 204 that is not JSON. `nil` for any other text.
  let body: JSON?
  let code: VendorText?
  let description: VendorText?
  /// The meaning of an OAuth error; `nil` for a response without one, or whose status says that the server is at fault.
  let oauth: OAuthError?

  init(_ response: HTTPResponseParts) {
    // The body of 202 and 204 need not be JSON. Some servers send a blank or a line end for an empty one.
    let isEmpty = [202, 204].contains(response.status) || response.isBlank
    let parsed = try? JSONParser.parse(response.body, .server)
    body = parsed == nil && isEmpty ? JSON.null : parsed
    let entry = body?.arrayValue?.first ?? body
    let error = entry?["error"]
    let code = entry?["errorCode"]?.stringValue ?? error?["code"]?.stringValue ?? error?.stringValue
    self.code = response.sent.text(code)
    description = response.sent.text(
      error?["description"]?.stringValue ?? entry?["error_description"]?.stringValue
        ?? entry?["errorDetails"]?.stringValue ?? (code == nil ? nil : entry?["message"]?.stringValue))
    let isServersFault = response.status == 429 || response.status >= 500
    oauth = isServersFault ? nil : error?.stringValue.flatMap(OAuthError.init)
  }
}

/// The meaning of an OAuth error (RFC 6749, 5.2, and RFC 6750, 3.1), which does not depend on the status that it comes
/// with.
enum OAuthError: Sendable {
  /// The grant or token is refused.
  case refusal
  /// The client or the request is refused, which another credential does not change.
  case client
  /// The server can't answer now.
  case passing
  /// Too many requests.
  case rate

  /// Reads the member `error` of a response; `nil` for any other text.
  init?(_ code: String) {
    switch code {
    case "invalid_grant", "invalid_token": self = .refusal
    case "invalid_client", "invalid_client_id", "invalid_request", "invalid_scope", "unauthorized_client",
      "unsupported_grant_type", "insufficient_scope":
      self = .client
    case "server_error", "temporarily_unavailable", "unknown_error": self = .passing
    case "rate_limit_exceeded", "slow_down": self = .rate
    default: return nil
    }
  }
}

extension HTTPResponseParts {
  /// Whether the body is empty or has white space only.
  var isBlank: Bool { body.allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains($0) } }
}

extension HTTPFailure {
  /// Returns the error that the failure stands for.
  ///
  /// - Parameter setting: the setting that holds the URL.
  func error(vendor: String, setting: String = "base_url") -> SDKError {
    switch self {
    case .network(let why):
      SDKError(.unreachable, .network, "\(vendor) can't be reached (\(why)); check the network and \(setting).")
    case .insecure(let why): SDKError(.unreachable, .network, "\(vendor) can't be reached safely: \(why).")
    case .proxy(let why): SDKError(.unreachable, .network, "\(vendor) can't be reached: \(why).")
    case .timeout: SDKError(.unreachable, .timeout, "\(vendor) did not answer in time; try again later.")
    case .tooLarge: SDKError(.unreachable, .badResponse, "\(vendor) answered with more than we take; check \(setting).")
    case .refused(let status, let location):
      VendorStatus(
        HTTPResponseParts(status: status, headers: location.map { ["location": $0] } ?? [:]), vendor: vendor,
        setting: setting
      ).socketError
    }
  }
}
