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

  /// Lets the WebSocket of that number be opened at the call's path, or refuses it by giving the response.
  ///
  /// Numbers are a namespace's own. Without this and what follows a backend has no sockets: 404.
  mutating func open(_ socket: Int, _ call: BackendCall) -> SandboxResponse?

  /// Takes in a text frame of an open socket; what it gives is the note in the log. Answers go into `outbox`.
  mutating func receive(_ frame: SocketFrame) -> String?

  /// The socket is gone, whoever closed it.
  mutating func closed(_ socket: Int)

  /// What is to be sent to open sockets, in order: emptied after each call of the backend, whichever it was.
  var outbox: [SocketAction] { get set }

  /// The open sockets of a user, by whatever the SDK calls users: `to` in `POST /_push` and `/_close`.
  func sockets(of user: String) -> [Int]

  /// What a message in a frame is, as scripts name it: `registerDevice`, `/meta/connect`; its `__type`, `action`,
  /// `type` and `channel` unless it says otherwise.
  func names(of message: JSONTree) -> [String]

  /// A scripted reply with what the protocol needs to match it with its message, such as the message's id.
  func completed(_ reply: JSONTree, answering message: JSONTree) -> JSONTree

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
