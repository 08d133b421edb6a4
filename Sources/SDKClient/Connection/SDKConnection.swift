public import JSONRPC
public import JSONRPCTransport

/// What a client needs of a connection. Tests put something else in its place.
public protocol SDKConnection: AnyObject, Sendable {
  /// The user as whom the daemon listens.
  var serverUid: UInt32 { get }
  /// The process that began to listen; 0 when it is not known.
  var serverPid: Int32 { get }
  /// What the daemon sends without being asked, for one reader; ends with the connection.
  var notifications: AsyncThrowingStream<ServerNotification, any Error> { get }
  /// True when the connection has ended.
  var isClosed: Bool { get }

  /// Calls a method and waits for its result.
  ///
  /// - Throws: the daemon's `RPCError`, `ClientConnectionError`, or `CancellationError`.
  func call(method: String, params: JSON?, timeout: Duration?) async throws -> JSON
  /// Ends the connection.
  func close()
}

extension ClientConnection: SDKConnection {}

/// Connects to the socket at a path. `onRequest` answers what the daemon asks; without it nothing is answered.
public typealias SDKConnector =
  @Sendable (_ path: String, _ onRequest: ClientConnection.RequestHandler?) async throws -> any SDKConnection
