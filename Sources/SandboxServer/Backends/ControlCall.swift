import Foundation

/// A control request to one backend, such as `POST /_grant`.
struct ControlCall: Sendable {
  /// The body of the request; `nil` if it is not valid JSON.
  var body: JSONTree?
  /// The time of the request by the sandbox's clock.
  var now: Date
  /// The URL of the backend, with its prefix and without a trailing slash.
  var baseURL: String
}
