import Foundation

/// A control request that one backend obeys.
struct ControlCall: Sendable {
  /// `nil` when the body is no JSON.
  var body: JSONTree?
  /// By the sandbox's clock.
  var now: Date
  /// The address of the backend, prefix included and without a slash at its end.
  var baseURL: String
}
