import JSONRPC

/// A refusal of the in-app messaging backend: `{"message", "errorCode"?}`.
struct InAppRefusal: Error, Equatable {
  let status: Int
  let message: String
  var code: String?
  /// The reason, which only the log shows.
  var note: String?

  init(_ status: Int, _ message: String, code: String? = nil, note: String? = nil) {
    self.status = status
    self.message = message
    self.code = code
    self.note = note
  }

  /// The refusal of an identity JWT.
  static func identity(_ note: String) -> Self { Self(401, "The customer identity token is not valid.", note: note) }

  static let expired = Self(401, "The customer identity token has expired.")
  static let noActiveSchemes = Self(403, "User verification configuration has no active AuthSchemes.")

  static func unauthorized(_ note: String) -> Self { Self(401, "Unauthorized", note: note) }

  static func notFound(_ what: String) -> Self { Self(404, "\(what) not found") }

  /// Returns the vendor's error for a status, for scripts that give no body.
  static func standard(for status: Int) -> Self {
    switch status {
    case 401: unauthorized("")
    case 403: Self(403, "Forbidden")
    case 404: notFound("Resource")
    case 423: Self(423, "The organization is in maintenance.", code: "ORG_UNDER_MAINTENANCE")
    case 429: Self(429, "Too many requests")
    case 500...: Self(status, "Internal server error")
    default: Self(status, "Bad request")
    }
  }

  var tree: JSON { .of(["message": .string(message), "errorCode": .optional(code)]) }

  var response: SandboxResponse { SandboxResponse(status, json: tree, note: note ?? message) }
}
