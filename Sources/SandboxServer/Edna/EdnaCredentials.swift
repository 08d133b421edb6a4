import Foundation

/// The credentials of a request: `ChatAuth` as headers or as cookies (`vendors.md` 5.2).
struct EdnaCredentials: Equatable, Sendable {
  enum Method: String, Sendable {
    case headers
    case cookies
  }

  /// The way in which the token was sent; `nil` without a token.
  var method: Method?
  /// The token as sent: the SDK adds no `Bearer`.
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

  var tree: JSONTree {
    .of(["method": .optional(method?.rawValue), "token": .optional(token), "scheme": .optional(scheme)])
  }
}
