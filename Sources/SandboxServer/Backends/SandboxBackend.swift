import Foundation

/// One SDK's vendor side: its accounts and users, and how they change with each request.
///
/// A value without I/O: the namespace that owns it feeds it requests one at a time.
protocol SandboxBackend: Sendable {
  /// The first segment of its paths, such as `zm`.
  static var prefix: String { get }

  /// With the demo accounts and no users.
  init()

  /// Does what the vendor would and gives its answer.
  mutating func respond(to call: BackendCall) -> SandboxResponse

  /// What the vendor's error of this HTTP status looks like, for scripts that give a status only.
  func errorBody(for status: Int) -> JSONTree

  /// Adds, rotates or (no secret) removes a signing key: `POST /_keys`.
  mutating func setKey(_ kid: String, to secret: String?) throws(ControlMistake)

  /// From now on refuses the tokens that the user has so far: `POST /_revoke`.
  mutating func revokeTokens(of externalID: String, at now: Date) throws(ControlMistake)

  /// What `GET /_keys` shows.
  var keys: JSONTree { get }

  /// What `GET /_state` shows; `baseURL` is where this backend is, prefix included.
  func state(baseURL: String) -> JSONTree
}
