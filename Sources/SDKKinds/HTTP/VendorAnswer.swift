import JSONRPC
import SDKInstances
import SDKProtocol

/// A vendor's response, classified by its status.
enum VendorAnswer {
  /// Status 2xx, with the body as JSON; `null` for an empty body, and for one of 202 or 204 that is not JSON.
  case accepted(JSON)
  /// Status 401.
  case unauthorized(code: String?, description: String?)
  /// Status 403.
  case forbidden(code: String?, description: String?)
  /// Status 404.
  case notFound
  /// A response that does not show whether the credential is valid, as an error for callers.
  case unusable(SDKError)

  /// Classifies a response. A 2xx whose body is not JSON is `unusable`.
  init(_ response: HTTPResponseParts, vendor: String) {
    // The body of 202 and 204 need not be JSON. Some servers send a blank or a line end for an empty one.
    let isEmpty = [202, 204].contains(response.status) || response.isBlank
    let parsed = try? JSONParser.parse(response.body, .server)
    let body = parsed == nil && isEmpty ? JSON.null : parsed
    let error = body?["error"]
    let code = error?["code"]?.stringValue ?? error?.stringValue
    let description = error?["description"]?.stringValue
    func unusable(_ reason: Reason, _ sentence: String, retryAfter: Double? = nil) -> VendorAnswer {
      .unusable(
        SDKError(
          .unreachable, reason, "\(vendor) \(sentence)", retryAfter: retryAfter, httpStatus: response.status,
          vendorCode: code, vendorDescription: description))
    }
    switch response.status {
    case 200..<300:
      guard let body else {
        self = unusable(.badResponse, "answered with something that is not JSON; check base_url.")
        return
      }
      self = .accepted(body)
    case 401: self = .unauthorized(code: code, description: description)
    case 403: self = .forbidden(code: code, description: description)
    case 404: self = .notFound
    case 429:
      self = unusable(.rateLimited, "asks for fewer requests; try again later.", retryAfter: response.retryAfter)
    case 500...:
      self = unusable(
        .serverError, "answered with status \(response.status); try again later.", retryAfter: response.requestedWait)
    default: self = unusable(.badResponse, "answered with status \(response.status), which is not expected.")
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
    case .refused(let status):
      SDKError(
        .unreachable, status == 429 ? .rateLimited : status >= 500 ? .serverError : .badResponse,
        "\(vendor) refused the connection with status \(status); check \(setting) and the URL of the socket.",
        httpStatus: status)
    }
  }
}
