public import JSONRPC
internal import JSONRPCTransport
public import SDKProtocol

/// A client of the daemon.
///
/// It connects when it is first needed, shares one connection among all calls and connects again when that is
/// lost. A read is tried again by itself when the daemon restarts; a write never is, once it was sent.
///
/// ```swift
/// let client = SDKClient()
/// let token = try await client.call(TokenGet.self, .init(instance: id, minTTL: Seconds(60)))
/// ```
public final class SDKClient: Sendable {
  let link: DaemonLink

  /// A client of the daemon at `socket`.
  ///
  /// - Parameter connector: makes the connections; by default over the Unix socket.
  public init(
    socket: SocketLocation = .automatic, options: ClientOptions = ClientOptions(),
    connector: @escaping SDKConnector = SDKClient.unixSocket
  ) {
    link = DaemonLink(socket, options, connector)
  }

  deinit { link.close() }

  /// Connects over the Unix socket, as clients do unless told otherwise.
  public static let unixSocket: SDKConnector = { try await ClientConnection.connect(path: $0) }

  /// A client that has connected already.
  ///
  /// - Throws: `SDKClientError`, or `CancellationError`.
  public static func connect(
    socket: SocketLocation = .automatic, options: ClientOptions = ClientOptions()
  ) async throws -> SDKClient {
    let client = SDKClient(socket: socket, options: options)
    _ = try await client.link.shared()
    return client
  }

  /// Calls a method of the contract.
  ///
  /// - Parameter timeout: how long to wait, tries included; `nil` for as long as it takes.
  /// - Throws: `SDKClientError`, or `CancellationError`.
  public func call<M: SDKMethod>(
    _ method: M.Type, _ params: M.Params, timeout: Duration? = nil
  ) async throws -> M.Result {
    try await call(method, params, ordering: M.ordering, timeout: timeout)
  }

  /// Calls a method that says nothing about its order: it counts as a write.
  ///
  /// - Throws: `SDKClientError`, or `CancellationError`.
  public func call<M: RPCMethod>(
    _ method: M.Type, _ params: M.Params, timeout: Duration? = nil
  ) async throws -> M.Result {
    try await call(method, params, ordering: .write(waits: true), timeout: timeout)
  }

  /// Calls a method of the contract that takes no params.
  ///
  /// - Throws: `SDKClientError`, or `CancellationError`.
  public func call<M: SDKMethod>(_ method: M.Type, timeout: Duration? = nil) async throws -> M.Result
  where M.Params == Empty {
    try await call(method, Empty(), ordering: M.ordering, timeout: timeout)
  }

  /// Calls a method by its name, such as those of the kinds.
  ///
  /// - Parameter ordering: how the method stands among others; unless given, what the common method of this name
  ///   says, and a write for any other.
  /// - Throws: `SDKClientError`, or `CancellationError`.
  public func call(
    _ name: String, _ params: JSON = [:], ordering: MethodOrdering? = nil, timeout: Duration? = nil
  ) async throws -> JSON {
    let known = ordering ?? CommonMethods.all.first { $0.name == name }?.ordering
    return try await send(name, params, isRead: known.map(\.isRead) ?? false, timeout: timeout)
  }

  /// Ends the shared connection; the next call makes another.
  public func close() { link.close() }

  private func call<M: RPCMethod>(
    _ method: M.Type, _ params: M.Params, ordering: MethodOrdering, timeout: Duration?
  ) async throws -> M.Result {
    let result = try await send(
      M.name, try JSONValueEncoder.encode(params), isRead: ordering.isRead, timeout: timeout)
    do { return try JSONValueDecoder.decode(M.Result.self, from: result) } catch {
      throw SDKClientError.badAnswer("the result of \(M.name) has another shape than expected.")
    }
  }

  private func send(_ name: String, _ params: JSON, isRead: Bool, timeout: Duration?) async throws -> JSON {
    let deadline = timeout.map { ContinuousClock.now + $0 }
    var schedule = link.options.readRetry
    while true {
      var wasSent = false
      do {
        let left = deadline.map { $0 - .now }
        if link.options.callsBlock {
          return try link.callBlocking(name, params, timeout: left) { wasSent = true }
        }
        let connection = try await link.shared()
        wasSent = true
        return try await ask(connection, name, params, timeout: left)
      } catch {
        let failure = try link.failure(error)
        guard failure.isRestart, link.wasConnected, isRead || !wasSent, let pause = schedule.next() else {
          throw failure
        }
        if let deadline, .now + pause >= deadline { throw SDKClientError.timeout }
        try await link.options.sleep(pause)
      }
    }
  }

  private func ask(
    _ connection: any SDKConnection, _ name: String, _ params: JSON, timeout: Duration?
  ) async throws -> JSON {
    if let timeout, timeout <= .zero { throw SDKClientError.timeout }
    do {
      return try await connection.call(method: name, params: params, timeout: timeout)
    } catch {
      // A daemon that drains answers nothing more on this connection, and a lost one is of no use.
      if try link.failure(error).isRestart { link.forget(connection) }
      throw error
    }
  }
}

extension MethodOrdering {
  /// Whether the same call may be sent again when its answer is lost.
  var isRead: Bool {
    switch self {
    case .read, .free: true
    case .write: false
    }
  }
}
