public import JSONRPC

/// A connection to a daemon: calls in both directions, and notifications.
///
/// One thread of its own does what is to be waited for, so that a program which makes one call starts nothing
/// else. The connection ends when this object goes away.
public final class ClientConnection: Sendable {
  /// Answers the daemon's own requests. Its task is cancelled when the daemon needs the answer no more.
  public typealias RequestHandler = @Sendable (_ method: String, _ params: JSON?) async throws(RPCError) -> JSON

  /// The user as whom the daemon listens. Check it before you send secrets.
  public let serverUid: UInt32
  /// The process that began to listen: the daemon, or the service manager that passed the socket on; 0 for one of
  /// another pid namespace.
  public let serverPid: Int32
  /// What the daemon sends without being asked. For one reader; ends with the connection, and with an error
  /// when it ended for another reason than that one side closed it.
  public let notifications: AsyncThrowingStream<ServerNotification, any Error>

  private let wire: ClientWire

  private init(
    _ wire: ClientWire, _ server: PeerCredentials?, _ notifications: AsyncThrowingStream<ServerNotification, any Error>
  ) {
    self.wire = wire
    serverUid = server?.uid ?? .max
    serverPid = server?.pid ?? 0
    self.notifications = notifications
  }

  deinit { wire.close() }

  /// Connects to the socket at `path`. A daemon whose queue is full is tried again for a while.
  ///
  /// - Parameter onRequest: answers the daemon's requests; without it each gets `methodNotFound`.
  /// - Throws: `ClientConnectionError`, or `CancellationError`.
  public static func connect(
    path: String, settings: ClientSettings = ClientSettings(), onRequest: RequestHandler? = nil
  ) async throws -> ClientConnection {
    let descriptor = try await ClientSocket.connect(path: path, timeout: settings.connectTimeout)
    return try take(descriptor, settings, onRequest)
  }

  /// Takes over a descriptor that is connected already, and closes it when the connection ends.
  static func take(
    _ descriptor: Int32, _ settings: ClientSettings, _ onRequest: RequestHandler?
  ) throws(ClientConnectionError) -> ClientConnection {
    let (stream, continuation) = AsyncThrowingStream.makeStream(
      of: ServerNotification.self, bufferingPolicy: .bufferingOldest(max(1, settings.maxNotifications)))
    // The socket's other end was made when the daemon began to listen: these are its credentials.
    let server = PeerCredentials(descriptor: descriptor)
    let wire = try ClientWire(
      descriptor: descriptor, maxLineBytes: settings.maxLineBytes, notifications: continuation, onRequest: onRequest)
    return ClientConnection(wire, server, stream)
  }

  /// Calls a method and waits for its result.
  ///
  /// When the task is cancelled or the time is over, the daemon gets `$/cancelRequest` and this returns at once.
  ///
  /// - Parameter timeout: how long to wait; `nil` for as long as the connection lasts.
  /// - Throws: the daemon's `RPCError`, `ClientConnectionError`, or `CancellationError`.
  public func call(method: String, params: JSON? = nil, timeout: Duration? = nil) async throws -> JSON {
    try await wire.call(method: method, params: params, timeout: timeout)
  }

  /// Sends a notification.
  public func notify(method: String, params: JSON = [:]) {
    wire.send(RPCText.notification(method: method, params: params))
  }

  /// True when the connection has ended.
  public var isClosed: Bool { wire.isClosed }

  /// Ends the connection. Calls that wait throw `ClientConnectionError.closed`.
  public func close() { wire.close() }

  /// Waits until the connection has ended and the answers to the daemon's requests have returned.
  public func closed() async { await wire.closed() }
}
