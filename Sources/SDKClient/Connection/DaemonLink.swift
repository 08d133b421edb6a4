internal import JSONRPC
internal import JSONRPCTransport
internal import Synchronization

/// The way to one daemon: its current connection, and new ones.
final class DaemonLink: Sendable {
  private struct State {
    var connection: (any SDKConnection)?
    /// The socket of the daemon that we once had: a restart must not lead to another daemon.
    var path: String?
  }

  let options: ClientOptions
  private let location: SocketLocation
  private let connector: SDKConnector
  private let state = Mutex(State())

  init(_ location: SocketLocation, _ options: ClientOptions, _ connector: @escaping SDKConnector) {
    self.location = location
    self.options = options
    self.connector = connector
  }

  /// Whether there was a connection once. Only then can a missing daemon be one that restarts.
  var wasConnected: Bool { state.withLock { $0.path != nil } }

  /// The connection that calls share, made if there is none.
  func shared() async throws -> any SDKConnection {
    if let connection = state.withLock({ $0.connection }), !connection.isClosed { return connection }
    let fresh = try await open()
    let kept = state.withLock { state -> any SDKConnection in
      if let other = state.connection, !other.isClosed { return other }
      state.connection = fresh
      return fresh
    }
    // Somebody else was faster.
    if kept !== fresh { fresh.close() }
    return kept
  }

  /// A new connection whose server is trusted.
  ///
  /// - Throws: `SDKClientError`, or `CancellationError`.
  func open() async throws -> any SDKConnection { try await open(connector) }

  /// A new connection of another sort, likewise.
  func open(_ connector: SDKConnector) async throws -> any SDKConnection {
    let path = try path
    let connection: any SDKConnection
    do { connection = try await connector(path) } catch { throw try SDKClientError(error, path: path) }
    do { try accept(uid: connection.serverUid, path) } catch {
      connection.close()
      throw error
    }
    return connection
  }

  /// Calls in the calling thread, over a connection for this call alone.
  ///
  /// - Parameter willSend: is told before the call goes out.
  /// - Throws: `SDKClientError`.
  func callBlocking(_ method: String, _ params: JSON, timeout: Duration?, willSend: () -> Void) throws -> JSON {
    let path = try path
    do {
      return try BlockingCall.run(
        path: path, method: method, params: params, timeout: timeout ?? Self.forever,
        checkServer: { uid in
          try accept(uid: uid, path)
          willSend()
        })
    } catch { throw try SDKClientError(error, path: path) }
  }

  private static let forever = Duration.seconds(365 * 86_400)

  private var path: String {
    get throws { try state.withLock { $0.path } ?? location.path() }
  }

  /// The server of a new connection is trusted, and the daemon at `path` is ours from now on.
  private func accept(uid: UInt32, _ path: String) throws(SDKClientError) {
    guard options.trust.includes(uid: uid) else { throw .untrustedServer(uid: uid) }
    state.withLock { $0.path = path }
  }

  /// Uses a connection for no further calls. Those that wait on it go on waiting.
  func forget(_ connection: any SDKConnection) {
    state.withLock { if $0.connection === connection { $0.connection = nil } }
  }

  func close() {
    let connection = state.withLock { state in
      defer { state.connection = nil }
      return state.connection
    }
    connection?.close()
  }

  /// What was thrown, as this module says it.
  func failure(_ error: any Error) throws -> SDKClientError {
    try SDKClientError(error, path: state.withLock { $0.path } ?? "")
  }
}
