import JSONRPC

/// A refusal of the Messaging backend, in the vendor's form `{"error":{"code","description"}}`.
struct MessagingRefusal: Error, Equatable {
  let status: Int
  let code: String
  let description: String
  /// The reason, which only the log shows.
  let note: String

  /// Returns a refusal with status 401. Its response is the same for every reason; only the log shows `note`.
  static func invalidAuth(_ note: String) -> MessagingRefusal {
    MessagingRefusal(status: 401, code: "invalid_auth", description: "Invalid JWT", note: note)
  }

  static func forbidden(_ note: String) -> MessagingRefusal {
    MessagingRefusal(status: 403, code: "forbidden", description: "Forbidden", note: note)
  }

  static func notFound(_ what: String) -> MessagingRefusal {
    MessagingRefusal(status: 404, code: "not_found", description: "\(what) not found", note: "no such \(what)")
  }

  static func badRequest(_ note: String) -> MessagingRefusal {
    MessagingRefusal(status: 400, code: "bad_request", description: note, note: note)
  }

  static func full(_ what: String) -> MessagingRefusal {
    MessagingRefusal(
      status: 503, code: "sandbox_full", description: "The sandbox takes no more \(what)", note: "too many \(what)")
  }

  /// Returns the vendor's error for a status, for scripts that give no body.
  static func standard(for status: Int) -> MessagingRefusal {
    switch status {
    case 401: .invalidAuth("")
    case 403: .forbidden("")
    case 404: .notFound("resource")
    case 429: .init(status: 429, code: "too_many_requests", description: "Too many requests", note: "")
    case 500...: .init(status: status, code: "internal_error", description: "Internal server error", note: "")
    default: .init(status: status, code: "bad_request", description: "Bad request", note: "")
    }
  }

  var tree: JSON { ["error": ["code": .string(code), "description": .string(description)]] }

  var response: SandboxResponse { SandboxResponse(status, json: tree, note: note) }
}
