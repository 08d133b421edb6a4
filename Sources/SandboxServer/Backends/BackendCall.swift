import Foundation

/// A request to one SDK's backend.
struct BackendCall: Sendable {
  /// In capitals.
  var method: String
  /// Decoded, without namespace and SDK prefix: `v2`, `apps`, …
  var path: [String]
  /// The query's items, decoded; the first of each name.
  var query: [String: String] = [:]
  /// Every header, by its name in lower case.
  var headers: [String: String] = [:]
  var authorization: String?
  var body = Data()
  /// By the sandbox's clock.
  var now: Date
  /// The address of the backend itself, prefix included and without a slash at its end.
  var baseURL: String

  /// The token of `Authorization: Bearer …`; `nil` when there is none or another scheme.
  var bearer: String? {
    let words = (authorization ?? "").split(separator: " ").map(String.init)
    guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
    return words[1]
  }

  /// The body as a form; `nil` when it is declared to be something else or can't be decoded.
  var form: [String: String]? {
    FormBody.items(body, contentType: headers["content-type"])
  }
}
