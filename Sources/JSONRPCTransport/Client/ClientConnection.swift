internal import Glibc
public import JSONRPC
internal import Linux

/// A connection to a daemon: calls in both directions, and notifications.
///
/// One dedicated thread waits for the socket, so that a program that makes one call starts no event loops. The
/// connection ends when this object is deinitialized.
public final class ClientConnection: Sendable {
  /// Answers the daemon's own requests. Its task is cancelled when the daemon no longer needs the response.
  public typealias RequestHandler = @Sendable (_ method: String, _ params: JSON?) async throws(RPCError) -> JSON

  /// The user ID under which the daemon listens; `UInt32.max` if it is unknown. Check it before you send secrets.
  public let serverUid: UInt32
  /// The process that began to listen: the daemon, or the service manager that passed the socket on. 0 if it is unknown
  /// or in another pid namespace.
  public let serverPid: Int32
  /// The daemon's notifications, for one reader.
  ///
  /// The stream ends with the connection. It throws if the connection failed, or if the daemon sent an error without an
  /// id before it closed.
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

  /// Connects to the socket at `path`. Retries for `settings.connectTimeout` while the daemon's backlog is full.
  ///
  /// - Parameter onRequest: answers the daemon's requests; without it each gets `methodNotFound`.
  /// - Throws: `ClientConnectionError`, or `CancellationError`.
  public static func connect(
    path: String, settings: ClientSettings = .standard, onRequest: RequestHandler? = nil
  ) async throws -> ClientConnection {
    let descriptor = try await ClientSocket.connect(path: path, timeout: settings.connectTimeout)
    return try take(descriptor, settings, onRequest)
  }

  /// Takes over a connected descriptor in non-blocking mode, and closes it when the connection ends.
  public static func take(
    _ descriptor: Int32, _ settings: ClientSettings, _ onRequest: RequestHandler?
  ) throws(ClientConnectionError) -> ClientConnection {
    let (stream, continuation) = AsyncThrowingStream.makeStream(
      of: ServerNotification.self, bufferingPolicy: .bufferingOldest(max(1, settings.maxNotifications)))
    // The kernel recorded these credentials when the daemon began to listen.
    let server = PeerCredentials(descriptor: descriptor)
    let wire = try ClientWire(
      descriptor: descriptor, maxLineBytes: settings.maxLineBytes, notifications: continuation, onRequest: onRequest)
    return ClientConnection(wire, server, stream)
  }

  /// Calls a method and waits for its result.
  ///
  /// When the task is cancelled or the time is over, the daemon gets `$/cancelRequest` and this throws at once.
  ///
  /// - Parameter timeout: the time to wait; `nil` to wait as long as the connection lasts.
  /// - Throws: the daemon's `RPCError`, `ClientConnectionError`, or `CancellationError`.
  public func call(method: String, params: JSON? = nil, timeout: Duration? = nil) async throws -> JSON {
    try await wire.call(method: method, params: params, timeout: timeout)
  }

  /// Sends a notification.
  public func notify(method: String, params: JSON = [:]) {
    wire.send(RPCText.notification(method: method, params: params))
  }

  /// Whether the connection has ended.
  public var isClosed: Bool { wire.isClosed }

  /// Whether calls can be sent. After an error without an id they can't, while calls in progress may still be answered.
  public var takesCalls: Bool { wire.takesCalls }

  /// Ends the connection. Pending calls throw `ClientConnectionError.closed`.
  public func close() { wire.close() }

  /// Waits until the connection has ended and the handlers of the daemon's requests have returned.
  public func closed() async { await wire.closed() }
}

/// The functions that connect a socket to a daemon.
enum ClientSocket {
  /// Returns a connected, non-blocking descriptor. Retries while the backlog is full, until `timeout`.
  static func connect(path: String, timeout: Duration) async throws -> CInt {
    let deadline = ContinuousClock.now + timeout
    var pause = Duration.milliseconds(1)
    while true {
      if let descriptor = try attempt(path) { return descriptor }
      guard ContinuousClock.now + pause < deadline else { throw ClientConnectionError.timeout }
      try await Task.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(100))
    }
  }

  /// Tries to connect once. Returns `nil` if it should be tried again: the socket's backlog is full, or a signal
  /// interrupted.
  static func attempt(_ path: String) throws(ClientConnectionError) -> CInt? {
    guard let address = UnixAddress(path: path) else { throw .notRunning(path: path) }
    let descriptor = UnixAddress.makeSocket()
    guard descriptor >= 0 else { throw .system(call: "socket", errno: errno) }
    if address.withPointer({ Glibc.connect(descriptor, $0, $1) }) == 0 { return descriptor }
    let cause = errno
    close(descriptor)
    switch cause {
    case EAGAIN, EINTR: return nil
    case ENOENT, ENOTDIR, ECONNREFUSED: throw .notRunning(path: path)
    case EACCES, EPERM: throw .notPermitted(path: path)
    default: throw .system(call: "connect", errno: cause)
    }
  }
}
