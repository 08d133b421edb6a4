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
  func open() async throws -> any SDKConnection {
    let path = try state.withLock({ $0.path }) ?? location.path()
    let connection: any SDKConnection
    do { connection = try await connector(path) } catch { throw try SDKClientError(error, path: path) }
    guard options.trust.includes(uid: connection.serverUid) else {
      connection.close()
      throw SDKClientError.untrustedServer(uid: connection.serverUid)
    }
    state.withLock { $0.path = path }
    return connection
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
