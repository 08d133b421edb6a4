import Foundation
import JSONRPC

/// The vendor's side of one SDK: its accounts, its users and its responses to requests.
///
/// A value without I/O. The namespace that owns it passes requests to it one at a time.
protocol SandboxBackend: Sendable {
  /// The first path segment of the backend's URLs, such as `zm`.
  static var prefix: String { get }

  /// The names of the control requests that only this backend handles, such as `_grant`. Default: none.
  static var controls: [String] { get }

  /// The members that the backend accepts in `POST /_options`. Default: none.
  static var optionNames: [String] { get }

  /// Whether users sign in with JWTs that the sandbox can make. Default: no.
  static var mintsTokens: Bool { get }

  /// Returns a JWT as the customer's server issues it.
  static func mint(_ request: MintRequest) throws(MintMistake) -> String

  /// Creates a backend with the demo accounts and without any user.
  init()

  /// Handles a request as the vendor would and returns the response.
  mutating func respond(to call: BackendCall) -> SandboxResponse

  /// Returns what a stream sends next, and the number of the last event in it; `nil` when the stream is over. By default
  /// it is.
  func part(of stream: ResponseStream, at now: Date) -> (text: String, after: Int)?

  /// Accepts a WebSocket at the call's path by returning `nil`, or returns the response that refuses it.
  ///
  /// `socket` is the number of the socket, unique in the namespace. By default every WebSocket is refused with 404.
  mutating func open(_ socket: Int, _ call: BackendCall) -> SandboxResponse?

  /// Handles a text frame of an open socket. Adds the replies to `outbox` and returns the note for the log.
  mutating func receive(_ frame: SocketFrame) -> String?

  /// Handles the end of a socket, whichever side closed it.
  mutating func closed(_ socket: Int)

  /// The frames and closes to carry out on open sockets, in order.
  ///
  /// The namespace carries them out and empties the list after each request, frame, close and control request.
  var outbox: [SocketAction] { get set }

  /// Returns the open sockets of a user, for `to` in `POST /_push` and `/_close`. The form of a user's id depends on
  /// the SDK.
  func sockets(of user: String) -> [Int]

  /// Returns the event names by which scripts select a message of a frame, such as `registerDevice` or `/meta/connect`.
  ///
  /// Default: the message's `__type`, `action`, `type` and `channel`.
  func names(of message: JSON) -> [String]

  /// Returns a scripted reply with the members that match it to its message, such as the message's id. Default:
  /// `reply`.
  func completed(_ reply: JSON, answering message: JSON) -> JSON

  /// Returns the vendor's error body for an HTTP status, for scripts that give a status only.
  func errorBody(for status: Int) -> JSON

  /// Returns the vendor's error response for a status at a path, for vendors whose errors differ by path.
  ///
  /// Default: `errorBody(for:)` as JSON.
  func errorResponse(for status: Int, path: [String]) -> SandboxResponse

  /// Adds or replaces a signing key: `POST /_keys`. With `nil`, removes the key or restores the demo secret, depending
  /// on the backend. Throws in a backend with fixed keys.
  mutating func setKey(_ kid: String, to secret: String?) throws(ControlMistake)

  /// Makes the backend refuse all tokens that the user has so far: `POST /_revoke`.
  mutating func revokeTokens(of externalID: String, at now: Date) throws(ControlMistake)

  /// Makes the backend refuse one kind of token (`kind` in `POST /_revoke`). By default throws: there is one kind only.
  mutating func revokeTokens(of externalID: String, kind: String, at now: Date) throws(ControlMistake)

  /// Changes the backend's behaviour: `POST /_options`. A null member restores its default.
  ///
  /// If a member is invalid, none is changed.
  mutating func setOptions(_ members: ControlMembers) throws(ControlMistake)

  /// Handles a `POST` to one of `controls`.
  mutating func control(_ name: String, _ call: ControlCall) throws(ControlMistake) -> JSON

  /// The backend's part of `GET /_keys`.
  var keys: JSON { get }

  /// The backend's part of `GET /_options`.
  var options: JSON { get }

  /// Returns the backend's part of `GET /_state`. `baseURL` is the URL of the backend, with its prefix.
  func state(baseURL: String) -> JSON
}

extension SandboxBackend {
  static var controls: [String] { [] }
  static var optionNames: [String] { [] }
  static var mintsTokens: Bool { false }
  static func mint(_ request: MintRequest) throws(MintMistake) -> String { "" }
  var options: JSON { [:] }

  func part(of stream: ResponseStream, at now: Date) -> (text: String, after: Int)? { nil }

  func errorResponse(for status: Int, path: [String]) -> SandboxResponse {
    SandboxResponse(status, json: errorBody(for: status))
  }

  mutating func revokeTokens(of externalID: String, kind: String, at now: Date) throws(ControlMistake) {
    throw ControlMistake("kind", "\(Self.prefix) has one kind of token only; leave it out")
  }

  mutating func setOptions(_ members: ControlMembers) throws(ControlMistake) {}

  mutating func control(_ name: String, _ call: ControlCall) throws(ControlMistake) -> JSON {
    throw ControlMistake(nil, "\(Self.prefix) has no \(name)", status: 404)
  }
}

/// The defaults for backends without WebSockets: `open` refuses every socket with 404.
extension SandboxBackend {
  mutating func open(_ socket: Int, _ call: BackendCall) -> SandboxResponse? {
    SandboxResponse(404, json: errorBody(for: 404), note: "no WebSocket here")
  }

  mutating func receive(_ frame: SocketFrame) -> String? { nil }

  mutating func closed(_ socket: Int) {}

  var outbox: [SocketAction] {
    get { [] }
    set {}
  }

  func sockets(of user: String) -> [Int] { [] }

  func names(of message: JSON) -> [String] {
    ["__type", "action", "type", "channel"].compactMap { message[$0]?.stringValue }
  }

  func completed(_ reply: JSON, answering message: JSON) -> JSON { reply }
}
