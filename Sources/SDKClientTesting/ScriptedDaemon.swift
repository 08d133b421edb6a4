internal import JSONRPC
internal import JSONRPCTransport
// A test that scripts a daemon needs the client, the methods and their shapes: one import provides them all.
@_exported public import SDKClient
internal import Synchronization

/// A daemon that is scripted by a test, in the same process and without a socket.
///
/// Set its answers with `on`, give the app its `client()`, and trigger events, delegates' questions or a restart. The
/// client is the real one: it encodes, retries, resumes and throws as in production.
///
/// ```swift
/// @Test func theDeskShowsWhoIsSignedIn() async throws {
///   let daemon = ScriptedDaemon()
///   daemon.on(InstanceCurrentUser.self) { params in
///     User(externalId: "alice", authenticationType: .jwt, authenticated: true, verified: true)
///   }
///   let desk = FrontDesk(client: daemon.client())
///   try await desk.update()
///   #expect(desk.title == "alice")
/// }
/// ```
///
/// Subscriptions and `delegate.attach` work without a script, see `emit` and `ask`. Any other method without an answer
/// is refused with `methodNotFound`, which names the method.
public final class ScriptedDaemon: Sendable {
  /// A call that the daemon received.
  public struct Call: Sendable, Hashable {
    /// The method's name.
    public let method: String
    /// The call's params.
    public let params: JSON

    /// Creates a call to compare with.
    public init(method: String, params: JSON) {
      self.method = method
      self.params = params
    }
  }

  typealias Answer = @Sendable (_ params: JSON, _ connection: ScriptedConnection) async throws -> JSON

  struct State {
    var answers: [String: Answer] = [:]
    var otherwise: (@Sendable (String, JSON) async throws -> JSON)?
    var calls: [Call] = []
    var isListening = true
    var connections: [WeakConnection] = []
    var events = ScriptedEvents()
    var delegates: [ScriptedDelegate] = []
  }

  let state = Mutex(State())
  private let serverUid: UInt32
  private let serverPid: Int32

  /// Creates a daemon that listens and has no answers yet.
  ///
  /// - Parameters:
  ///   - serverUid: the uid of the listener; by default the test's own user, whom clients trust.
  ///   - serverPid: the id of the process that listens; 1 is the service manager.
  public init(serverUid: UInt32? = nil, serverPid: Int32 = 2) {
    self.serverUid = serverUid ?? Self.ownUid
    self.serverPid = serverPid
    answerSubscriptions()
    answerDelegates()
  }

  /// Returns a client of this daemon.
  ///
  /// - Parameter options: the client's options; set `sleep` to shorten its pauses.
  public func client(options: ClientOptions = ClientOptions()) -> SDKClient {
    SDKClient(socket: .path(Self.path), options: options, connector: connector)
  }

  /// A connector to this daemon for any path, for code that takes a connector.
  public var connector: SDKConnector {
    { [self] path, onRequest in
      let connection = ScriptedConnection(
        daemon: self, serverUid: serverUid, serverPid: serverPid, onRequest: onRequest)
      let isListening = state.withLock { state in
        state.connections.removeAll { $0.connection == nil }
        if state.isListening { state.connections.append(WeakConnection(connection: connection)) }
        return state.isListening
      }
      guard isListening else { throw ClientConnectionError.notRunning(path: path) }
      return connection
    }
  }

  private static let path = "/scripted/sdkd.sock"

  // MARK: Answers

  /// Sets the answer to a method, in place of any earlier answer.
  ///
  /// The params are checked as the daemon checks them. An `SDKError` that `answer` throws becomes the refusal.
  public func on<M: RPCMethod>(
    _ method: M.Type, _ answer: @escaping @Sendable (M.Params) async throws -> M.Result
  ) {
    on(M.name) { params in try JSONValueEncoder.encode(try await answer(try M.decode(params))) }
  }

  /// Sets the answer to a method by its name, such as a kind's own method.
  public func on(_ name: String, _ answer: @escaping @Sendable (_ params: JSON) async throws -> JSON) {
    state.withLock { $0.answers[name] = { params, _ in try await answer(params) } }
  }

  /// Sets the answer to every method that has none of its own.
  public func otherwise(_ answer: @escaping @Sendable (_ method: String, _ params: JSON) async throws -> JSON) {
    state.withLock { $0.otherwise = answer }
  }

  func take(_ method: String, _ params: JSON, from connection: ScriptedConnection) async throws -> JSON {
    let (answer, otherwise) = state.withLock { state in
      state.calls.append(Call(method: method, params: params))
      return (state.answers[method], state.otherwise)
    }
    do {
      if let answer { return try await answer(params, connection) }
      guard let otherwise else {
        throw RPCError(
          code: -32601, reason: "methodNotFound",
          message: "The scripted daemon has no answer for \(method); give it one with on().")
      }
      return try await otherwise(method, params)
    } catch let error as any RPCErrorConvertible {
      throw error.rpcError
    }
  }

  // MARK: Received calls

  /// All calls so far, in order.
  public var calls: [Call] { state.withLock { $0.calls } }

  /// Returns the params of all calls of a method so far.
  ///
  /// - Throws: `RPCError` for params that don't have the method's shape.
  public func calls<M: RPCMethod>(of method: M.Type) throws -> [M.Params] {
    try calls.filter { $0.method == M.name }.map { try M.decode($0.params) }
  }

  /// Waits until a method was called at least `count` times.
  ///
  /// - Throws: `ScriptedTimeout` when it was not within `limit`.
  public func waitForCalls(of method: String, count: Int = 1, within limit: Duration = .seconds(10)) async throws {
    try await ScriptedTimeout.wait(for: "\(count) calls of \(method)", within: limit) {
      calls.count { $0.method == method } >= count
    }
  }
}

/// An error for a condition that did not become true in time.
public struct ScriptedTimeout: Error, Sendable, Hashable, CustomStringConvertible {
  public let description: String

  /// Polls `condition` every millisecond until it is true.
  ///
  /// - Throws: `ScriptedTimeout`, which names `what`, if it is not true within `limit`.
  static func wait(for what: String, within limit: Duration, _ condition: () -> Bool) async throws {
    let deadline = ContinuousClock.now + limit
    while !condition() {
      guard .now < deadline else { throw ScriptedTimeout(description: "\(what): not within \(limit)") }
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}
