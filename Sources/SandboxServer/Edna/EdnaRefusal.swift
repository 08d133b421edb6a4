import Foundation
import JSONRPC

/// A request or frame that the edna backend refuses: `{"error", "errorDetails"}`.
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

  var tree: JSON { ["error": .string(error), "errorDetails": .string(details)] }

  var response: SandboxResponse { SandboxResponse(status, json: tree, note: note) }
}

/// The credentials of a request: `ChatAuth` as headers or as cookies.
struct EdnaCredentials: Equatable, Sendable {
  enum Method: String, Sendable {
    case headers
    case cookies
  }

  /// The way in which the token was sent; `nil` without a token.
  var method: Method?
  /// The value of the header or cookie `Authorization`, unchanged: the SDK adds no `Bearer`. `nil` without one.
  var token: String?
  var scheme: String?

  init(_ call: BackendCall) throws(EdnaRefusal) {
    let header = call.authorization.flatMap { $0.isEmpty ? nil : $0 }
    let cookies = Self.cookies(call.headers["cookie"] ?? "")
    switch (header, cookies["Authorization"]) {
    case (nil, nil): return
    case (_?, _?): throw .badRequest("a token both in the headers and in the cookies")
    case (let header?, nil):
      method = .headers
      token = header
      scheme = call.headers["x-auth-schema"]
    case (nil, let cookie?):
      method = .cookies
      token = cookie
      scheme = cookies["X-Auth-Schema"]
    }
  }

  /// Returns the pairs of a `Cookie` header, without empty ones.
  private static func cookies(_ header: String) -> [String: String] {
    header.split(separator: ";").reduce(into: [:]) { cookies, pair in
      let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      if parts.count == 2, !parts[1].isEmpty { cookies[parts[0]] = parts[1] }
    }
  }

  var tree: JSON {
    .of(["method": .optional(method?.rawValue), "token": .optional(token), "scheme": .optional(scheme)])
  }
}
