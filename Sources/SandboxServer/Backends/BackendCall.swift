import Foundation

/// A request to one SDK's backend.
struct BackendCall: Sendable {
  /// In capitals.
  var method: String
  /// Decoded, without namespace and SDK prefix: `v2`, `apps`, …
  var path: [String]
  var authorization: String?
  var body = Data()
  /// By the sandbox's clock.
  var now: Date
  /// The address of the backend itself, prefix included and without a slash at its end.
  var baseURL: String
}
