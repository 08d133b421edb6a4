// A client needs the methods, their shapes, JSON values and errors: one import provides them all.
@_exported public import JSONRPC
internal import JSONRPCTransport
@_exported public import SDKProtocol

/// A client of the daemon.
///
/// It connects on first use, shares one connection among all calls, and reconnects when that is lost. While the daemon
/// restarts, it retries reads, and writes that certainly were not run. A write that may have been run throws
/// `SDKClientError.outcomeUnknown` instead.
///
/// ```swift
/// let client = SDKClient()
/// let token = try await client.call(TokenGet.self, .init(instance: id, http: true))
/// ```
///
/// A call whose task is cancelled throws `CancellationError` at once and cancels the call at the daemon.
public final class SDKClient: Sendable {
  let link: DaemonLink

  /// Creates a client of the daemon at `socket`.
  ///
  /// - Parameters:
  ///   - socket: the location of the daemon's socket.
  ///   - options: trust, retries and limits.
  ///   - connector: opens the connections; by default over the Unix socket.
  public init(
    socket: SocketLocation = .automatic, options: ClientOptions = ClientOptions(),
    connector: @escaping SDKConnector = SDKClient.unixSocket
  ) {
    link = DaemonLink(socket, options, connector)
  }

  deinit { link.close() }

  /// The default connector, over the Unix socket.
  public static let unixSocket: SDKConnector = { path, onRequest in
    try await ClientConnection.connect(path: path, onRequest: onRequest)
  }

  /// Returns a client that is already connected.
  ///
  /// - Throws: `SDKClientError`, or `CancellationError`.
  public static func connect(
    socket: SocketLocation = .automatic, options: ClientOptions = ClientOptions()
  ) async throws -> SDKClient {
    let client = SDKClient(socket: socket, options: options)
    _ = try await client.link.shared(until: nil)
    return client
  }

  /// Calls a method of the contract.
  ///
  /// - Parameters:
  ///   - method: the method's type, such as `TokenGet.self`.
  ///   - params: the method's params.
  ///   - timeout: the time limit, retries included; by default `callTimeout` of the options.
  /// - Throws: `SDKClientError`, or `CancellationError`.
  public func call<M: SDKMethod>(
    _ method: M.Type, _ params: M.Params, timeout: Duration? = nil
  ) async throws -> M.Result {
    try await call(method, params, ordering: M.ordering, timeout: timeout)
  }

  /// Calls a method that declares no ordering, as a write.
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

  /// Calls a method by its name, such as a kind's own method.
  ///
  /// - Parameters:
  ///   - name: the method's name, such as `messaging.loginUser`.
  ///   - params: the method's params.
  ///   - ordering: the method's ordering; by default that of the common method of this name, and a write for any other
  ///     name.
  ///   - timeout: the time limit, retries included; by default `callTimeout` of the options.
  /// - Throws: `SDKClientError`, or `CancellationError`.
  public func call(
    _ name: String, _ params: JSON = [:], ordering: MethodOrdering? = nil, timeout: Duration? = nil
  ) async throws -> JSON {
    let known = ordering ?? CommonMethods.all.first { $0.name == name }?.ordering
    return try await send(name, params, isRead: known.map(\.isRead) ?? false, timeout: timeout)
  }

  /// Closes the connections of calls; the next call opens another.
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
}

extension MethodOrdering {
  /// Whether the same call may be sent again when its response is lost.
  var isRead: Bool {
    switch self {
    case .read, .free: true
    case .write: false
    }
  }
}
