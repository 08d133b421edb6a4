/// A request or frame that the edna backend refuses: `{"error", "errorDetails"}` (`vendors.md` 5.1).
struct EdnaRefusal: Error, Equatable {
  let status: Int
  let error: String
  let details: String
  /// The reason for the log, which can be more specific than `details`.
  let note: String

  /// Returns a refusal with status 401. `details` is `expired` or `invalid`.
  static func unauthorized(_ details: String, _ note: String) -> EdnaRefusal {
    EdnaRefusal(status: 401, error: "UNAUTHORIZED", details: details, note: note)
  }

  static func forbidden(_ note: String) -> EdnaRefusal {
    EdnaRefusal(status: 403, error: "FORBIDDEN", details: note, note: note)
  }

  static func badRequest(_ note: String) -> EdnaRefusal {
    EdnaRefusal(status: 400, error: "BAD_REQUEST", details: note, note: note)
  }

  static func notFound(_ note: String) -> EdnaRefusal {
    EdnaRefusal(status: 404, error: "NOT_FOUND", details: note, note: note)
  }

  static func full(_ what: String) -> EdnaRefusal {
    EdnaRefusal(status: 503, error: "SANDBOX_FULL", details: "no more \(what)", note: "too many \(what)")
  }

  /// Returns the vendor's error for a status, for scripts that give no body.
  static func standard(for status: Int) -> EdnaRefusal {
    switch status {
    case 401: .unauthorized("expired", "")
    case 403: .forbidden("")
    case 404: .notFound("")
    case 500...: .init(status: status, error: "INTERNAL_ERROR", details: "", note: "")
    default: .badRequest("")
    }
  }

  var tree: JSONTree { ["error": .string(error), "errorDetails": .string(details)] }

  var response: SandboxResponse { SandboxResponse(status, json: tree, note: note) }
}
