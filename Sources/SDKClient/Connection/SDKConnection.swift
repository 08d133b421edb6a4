public import JSONRPC
public import JSONRPCTransport

/// A connection as a client uses it. Tests substitute their own.
public protocol SDKConnection: AnyObject, Sendable {
  /// The uid under which the daemon listens.
  var serverUid: UInt32 { get }
  /// The id of the process that began to listen; 0 if unknown.
  var serverPid: Int32 { get }
  /// The daemon's notifications, for a single reader; the stream ends with the connection.
  var notifications: AsyncThrowingStream<ServerNotification, any Error> { get }
  /// Whether the connection has ended.
  var isClosed: Bool { get }
  /// Whether calls can be sent. A connection can stop taking calls before it ends.
  var takesCalls: Bool { get }

  /// Calls a method and waits for its result.
  ///
  /// - Throws: the daemon's `RPCError`, `ClientConnectionError`, or `CancellationError`.
  func call(method: String, params: JSON?, timeout: Duration?) async throws -> JSON
  /// Ends the connection.
  func close()
}

extension SDKConnection {
  /// Whether the connection is open.
  public var takesCalls: Bool { !isClosed }
}

extension ClientConnection: SDKConnection {}

/// A function that connects to the socket at a path. `onRequest` responds to the daemon's requests; without it they are
/// refused.
public typealias SDKConnector =
  @Sendable (_ path: String, _ onRequest: ClientConnection.RequestHandler?) async throws -> any SDKConnection
