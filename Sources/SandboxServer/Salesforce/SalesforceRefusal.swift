import Foundation
import JSONRPC

/// A refusal of the Salesforce backend, in one of the platform's three forms.
struct SalesforceRefusal: Error, Equatable {
  let status: Int
  let form: Form
  /// The reason, which only the log shows.
  let note: String

  enum Form: Equatable {
    /// The form `{"error","error_description"}` of the token and revocation endpoints.
    case oauth(code: String, description: String)
    /// The form `[{"errorCode","message"}]` of the REST API.
    case rest(code: String, message: String)
    /// The plain text of the identity services.
    case text(String)
  }

  static func oauth(_ code: String, _ description: String, status: Int = 400, _ note: String = "") -> Self {
    Self(status: status, form: .oauth(code: code, description: description), note: note)
  }

  static func invalidGrant(_ note: String) -> Self {
    .oauth("invalid_grant", "expired access/refresh token", note)
  }

  static func invalidSession(_ note: String) -> Self {
    Self(status: 401, form: .rest(code: "INVALID_SESSION_ID", message: "Session expired or invalid"), note: note)
  }

  static func badToken(_ note: String) -> Self {
    Self(status: 403, form: .text("Bad_OAuth_Token"), note: note)
  }

  static func notFound(_ note: String) -> Self {
    Self(status: 404, form: .rest(code: "NOT_FOUND", message: "The requested resource does not exist"), note: note)
  }

  static func rest(_ status: Int, _ code: String, _ message: String) -> Self {
    Self(status: status, form: .rest(code: code, message: message), note: message)
  }

  /// Returns the vendor's error for a status at a path, for scripts that give no body.
  static func standard(for status: Int, path: [String]) -> Self {
    if SalesforceRoute.isIdentity(path), status == 401 || status == 403 {
      return Self(status: status, form: .text("Bad_OAuth_Token"), note: "")
    }
    if SalesforceRoute.isOAuth(path) {
      return switch status {
      case 400: .invalidGrant("")
      case 401: .oauth("invalid_client", "invalid client credentials", status: 401)
      case 429: .oauth("rate_limit_exceeded", "login rate exceeded", status: 429)
      case 500...: .oauth("unknown_error", "retry your request", status: status)
      default: .oauth("invalid_request", "invalid request", status: status)
      }
    }
    return switch status {
    case 401: .invalidSession("")
    case 403: .rest(403, "API_DISABLED_FOR_ORG", "API is not enabled for this Organization or Partner")
    case 404: .notFound("")
    case 429: .rest(429, "REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded")
    case 500...: .rest(status, "UNKNOWN_EXCEPTION", "An unexpected error occurred")
    default: .rest(status, "INVALID_FIELD", "Invalid request")
    }
  }

  var response: SandboxResponse {
    switch form {
    case .oauth(let code, let description):
      SandboxResponse(
        status, json: ["error": .string(code), "error_description": .string(description)], note: note)
    case .rest(let code, let message):
      SandboxResponse(status, json: [["errorCode": .string(code), "message": .string(message)]], note: note)
    case .text(let text):
      SandboxResponse(status, headers: ["Content-Type": ["text/plain"]], body: Data(text.utf8), note: note)
    }
  }
}
