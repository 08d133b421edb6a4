import JSONRPC

/// A refusal of the Support backend, in the vendor's form `{"error":…}`.
struct SupportRefusal: Error, Equatable {
  let status: Int
  let text: String
  /// The reason, which only the log shows.
  let note: String

  /// Returns a refusal with status 401. Its response is the same for every reason; only the log shows `note`.
  static func unauthenticated(_ note: String) -> SupportRefusal {
    SupportRefusal(status: 401, text: "Couldn't authenticate you", note: note)
  }

  static func forbidden(_ note: String) -> SupportRefusal {
    SupportRefusal(status: 403, text: "Forbidden", note: note)
  }

  static func notFound(_ what: String) -> SupportRefusal {
    SupportRefusal(status: 404, text: "RecordNotFound", note: "no such \(what)")
  }

  static func badRequest(_ note: String) -> SupportRefusal {
    SupportRefusal(status: 400, text: "BadRequest", note: note)
  }

  static func full(_ what: String) -> SupportRefusal {
    SupportRefusal(status: 503, text: "The sandbox takes no more \(what)", note: "too many \(what)")
  }

  /// Returns the vendor's error for a status, for scripts that give no body.
  static func standard(for status: Int) -> SupportRefusal {
    switch status {
    case 401: .unauthenticated("")
    case 403: .forbidden("")
    case 404: .notFound("record")
    case 409: .init(status: 409, text: "Conflict", note: "")
    case 429: .init(status: 429, text: "TooManyRequests", note: "")
    case 500...: .init(status: status, text: "InternalServerError", note: "")
    default: .badRequest("")
    }
  }

  var tree: JSON { ["error": .string(text)] }

  var response: SandboxResponse { SandboxResponse(status, json: tree, note: note) }
}
