import Foundation
import JSONRPC

/// A request to one SDK's backend.
struct BackendCall: Sendable {
  /// The HTTP method, in capitals.
  var method: String
  /// The decoded segments of the path, without namespace and SDK prefix: `v2`, `apps`, …
  var path: [String]
  /// The decoded items of the query. Of several items with the same name, only the first is kept.
  var query: [String: String] = [:]
  /// The headers by their names in lower case.
  var headers: [String: String] = [:]
  var authorization: String?
  var body = Data()
  /// The time of the request by the sandbox's clock.
  var now: Date
  /// The URL of the backend, with its prefix and without a trailing slash.
  var baseURL: String

  /// The token of `Authorization: Bearer …`; `nil` without the header or with another scheme.
  var bearer: String? {
    let words = (authorization ?? "").split(separator: " ").map(String.init)
    guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
    return words[1]
  }

  /// The form fields of the body; `nil` if the content type is not a form or the body can't be decoded.
  var form: [String: String]? {
    FormBody.items(body, contentType: headers["content-type"])
  }
}

/// A control request to one backend, such as `POST /_grant`.
struct ControlCall: Sendable {
  /// The body of the request; `nil` if it is not valid JSON.
  var body: JSON?
  /// The time of the request by the sandbox's clock.
  var now: Date
  /// The URL of the backend, with its prefix and without a trailing slash.
  var baseURL: String
}
