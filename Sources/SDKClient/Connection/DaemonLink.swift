internal import Concurrency
internal import JSONRPC
internal import JSONRPCTransport
internal import Synchronization

/// The link to one daemon: its current connection, and the means to open new ones.
final class DaemonLink: Sendable {
  private struct State {
    var connection: (any SDKConnection)?
    /// Earlier connections, which the calls in progress on them keep.
    var earlier: [Earlier] = []
    /// The socket path of earlier connections, kept so that a reconnect never reaches another daemon.
    var path: String?
    /// The number of calls in progress.
    var calls = 0

    /// Makes a connection, or none, the one that calls share.
    mutating func share(_ next: (any SDKConnection)?) {
      earlier.removeAll { $0.connection == nil }
      if let connection { earlier.append(Earlier(connection: connection)) }
      connection = next
    }
  }

  private struct Earlier {
    weak var connection: (any SDKConnection)?
  }

  let options: ClientOptions
  private let location: SocketLocation
  private let connector: SDKConnector
  private let opening = SharedOpening()
  private let state = Mutex(State())

  init(_ location: SocketLocation, _ options: ClientOptions, _ connector: @escaping SDKConnector) {
    self.location = location
    self.options = options
    self.connector = connector
  }

  /// Whether a connection was accepted before. Only then can a missing daemon be one that restarts.
  var wasConnected: Bool { state.withLock { $0.path != nil } }

  // MARK: Calls

  /// Adds a call to the calls in progress.
  ///
  /// - Throws: `SDKClientError.tooManyCalls` when `maxCalls` calls are in progress.
  func beginCall() throws(SDKClientError) {
    let isFree = state.withLock { state in
      guard state.calls < options.maxCalls else { return false }
      state.calls += 1
      return true
    }
    guard isFree else { throw .tooManyCalls(limit: options.maxCalls) }
  }

  /// Removes a call from the calls in progress.
  func endCall() { state.withLock { $0.calls -= 1 } }

  // MARK: Connections

  /// Returns the connection that calls share, and opens one if there is none.
  ///
  /// - Throws: `SDKClientError`, which is `timeout` at the deadline; `CancellationError`.
  func shared(until deadline: ContinuousClock.Instant?) async throws -> any SDKConnection {
    if let current { return current }
    guard let deadline else { return try await connected() }
    do {
      return try await withTimeout(deadline - .now) { try await self.connected() }
    } catch is TimeoutError {
      throw SDKClientError.timeout
    }
  }

  private func connected() async throws -> any SDKConnection {
    try await opening.run {
      // Another task may have opened it while this one waited.
      if let current { return current }
      let fresh = try await open()
      state.withLock { $0.share(fresh) }
      return fresh
    }
  }

  private var current: (any SDKConnection)? {
    state.withLock { state in state.connection.flatMap { $0.takesCalls ? $0 : nil } }
  }

  /// Opens a connection and checks that its server is trusted.
  ///
  /// - Parameter onRequest: answers the daemon's questions. It receives none before the server is trusted, because its
  ///   answers hold secrets.
  /// - Throws: `SDKClientError`, or `CancellationError`.
  func open(onRequest: ClientConnection.RequestHandler? = nil) async throws -> any SDKConnection {
    let path = try path
    let gate = TrustGate()
    let connection: any SDKConnection
    do { connection = try await connector(path, onRequest.map(gate.guarding)) } catch {
      throw try SDKClientError(error, path: path)
    }
    do { try accept(uid: connection.serverUid, pid: connection.serverPid, path) } catch {
      connection.close()
      throw error
    }
    gate.open()
    return connection
  }

  /// Calls a method in the calling thread, over a connection for this call alone.
  ///
  /// - Parameter willSend: is called just before the call is sent.
  /// - Throws: `SDKClientError`, or `ClientConnectionError.notSent`.
  func callBlocking(_ method: String, _ params: JSON, timeout: Duration?, willSend: () -> Void) throws -> JSON {
    let path = try path
    do {
      return try BlockingCall.run(
        path: path, method: method, params: params, timeout: timeout ?? Self.forever,
        checkServer: { uid, pid in
          try accept(uid: uid, pid: pid, path)
          willSend()
        })
    } catch ClientConnectionError.notSent {
      throw ClientConnectionError.notSent
    } catch {
      throw try SDKClientError(error, path: path)
    }
  }

  private static let forever = Duration.seconds(365 * 86_400)

  private var path: String {
    get throws { try state.withLock { $0.path } ?? location.path() }
  }

  /// Checks that the server of a new connection is trusted, and keeps `path` for later connections.
  private func accept(uid: UInt32, pid: Int32, _ path: String) throws(SDKClientError) {
    guard options.trust.includes(uid: uid, pid: pid, path: path) else { throw .untrustedServer(uid: uid) }
    state.withLock { $0.path = path }
  }

  /// Uses a connection for no further calls. Calls in progress on it continue.
  func forget(_ connection: any SDKConnection) {
    state.withLock { if $0.connection === connection { $0.share(nil) } }
  }

  func close() {
    let connections = state.withLock { state in
      state.share(nil)
      defer { state.earlier = [] }
      return state.earlier.compactMap(\.connection)
    }
    for connection in connections { connection.close() }
  }

  /// Returns an error of a lower layer as `SDKClientError`. Rethrows a cancellation and any unknown error.
  func failure(_ error: any Error) throws -> SDKClientError {
    try SDKClientError(error, path: state.withLock { $0.path } ?? "")
  }
}

/// A connection attempt that concurrent callers share: one of them connects, and all get its connection.
final class SharedOpening: Sendable {
  private let pending = Mutex<Promise<any SDKConnection>?>(nil)

  /// Runs `open`, or waits for an attempt already in progress and returns its connection.
  ///
  /// - Throws: what `open` throws, or `CancellationError`.
  func run(_ open: () async throws -> any SDKConnection) async throws -> any SDKConnection {
    while true {
      try Task.checkCancellation()
      let (promise, isMine) = pending.withLock { pending in
        if let pending { return (pending, false) }
        let promise = Promise<any SDKConnection>()
        pending = promise
        return (promise, true)
      }
      guard isMine else {
        do { return try await promise.value() } catch is CancellationError {
          // The other attempt was cancelled, so try here; or this task was, so throw at the next check.
          continue
        }
      }
      let outcome: Result<any SDKConnection, any Error>
      do { outcome = .success(try await open()) } catch { outcome = .failure(error) }
      pending.withLock { $0 = nil }
      promise.resolve(outcome)
      return try outcome.get()
    }
  }
}
