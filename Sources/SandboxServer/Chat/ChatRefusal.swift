import JSONRPC

/// An exchange that the Chat backend refuses: `{"success":false,"error",…}`.
enum ChatRefusal: Error, Equatable {
  case accountKeyNotFound
  case tokenNotFound
  case noSharedSecret
  /// A missing or invalid claim. The value is the `details` of the response.
  case claims(String)
  case externalIDHasChanged
  case internalServerError
  /// A refusal that the vendor's table lists as "anything else".
  case other(status: Int, String, details: String? = nil)

  static let emailIsInvalid = Self.claims("email is invalid")
  static let nameShouldBeSet = Self.claims("name should be set")
  static let hasExpired = Self.claims("jwt token has expired")

  var error: String {
    switch self {
    case .accountKeyNotFound: "account key not found"
    case .tokenNotFound: "token not found"
    case .noSharedSecret: "error fetching shared secret"
    case .claims: "failed to validate claims"
    case .externalIDHasChanged: "external ID has changed"
    case .internalServerError: "internal server error"
    case .other(_, let error, _): error
    }
  }

  var details: String? {
    switch self {
    case .claims(let details): details
    case .other(_, _, let details): details
    default: nil
    }
  }

  /// The HTTP status; `nil` for refusals of an exchange, whose status is the option `failureStatus`.
  var ownStatus: Int? {
    switch self {
    case .internalServerError: 500
    case .other(let status, _, _): status
    default: nil
    }
  }

  /// Returns the vendor's error for a status, for scripts that give no body.
  static func standard(for status: Int) -> ChatRefusal {
    switch status {
    case 404: .other(status: 404, "not found")
    case 429: .other(status: 429, "too many requests")
    case 500...: .internalServerError
    default: .other(status: status, "bad request")
    }
  }

  var tree: JSON {
    .of(["success": false, "error": .string(error), "details": .optional(details)])
  }

  func response(status: Int) -> SandboxResponse {
    SandboxResponse(ownStatus ?? status, json: tree, note: [error, details].compactMap { $0 }.joined(separator: ": "))
  }
}
