import Foundation

/// One SDK's vendor side: its accounts and users, and how they change with each request.
///
/// A value without I/O: the namespace that owns it feeds it requests one at a time.
protocol SandboxBackend: Sendable {
  /// The first segment of its paths, such as `zm`.
  static var prefix: String { get }

  /// The control requests that only this backend knows, such as `_grant`; none unless it says so.
  static var controls: [String] { get }

  /// The members that it knows in `POST /_options`; none unless it says so.
  static var optionNames: [String] { get }

  /// With the demo accounts and no users.
  init()

  /// Does what the vendor would and gives its answer.
  mutating func respond(to call: BackendCall) -> SandboxResponse

  /// What the vendor's error of this HTTP status looks like, for scripts that give a status only.
  func errorBody(for status: Int) -> JSONTree

  /// The same for vendors whose errors differ by path; `errorBody(for:)` as JSON unless it says otherwise.
  func errorResponse(for status: Int, path: [String]) -> SandboxResponse

  /// Adds, rotates or (no secret) removes a signing key: `POST /_keys`.
  mutating func setKey(_ kid: String, to secret: String?) throws(ControlMistake)

  /// From now on refuses the tokens that the user has so far: `POST /_revoke`.
  mutating func revokeTokens(of externalID: String, at now: Date) throws(ControlMistake)

  /// The same for one kind of token only (`kind` in `POST /_revoke`); a mistake unless the SDK has kinds.
  mutating func revokeTokens(of externalID: String, kind: String, at now: Date) throws(ControlMistake)

  /// Changes how it behaves: `POST /_options`. A member that is null goes back to its default; all or none.
  mutating func setOptions(_ members: ControlMembers) throws(ControlMistake)

  /// Obeys a `POST` to one of `controls`.
  mutating func control(_ name: String, _ call: ControlCall) throws(ControlMistake) -> JSONTree

  /// What `GET /_keys` shows.
  var keys: JSONTree { get }

  /// What `GET /_options` shows.
  var options: JSONTree { get }

  /// What `GET /_state` shows; `baseURL` is where this backend is, prefix included.
  func state(baseURL: String) -> JSONTree
}
