internal import JSONRPC
internal import JSONRPCTransport
public import SDKClient
internal import Synchronization

/// A daemon that a test plays, in the same process and without a socket.
///
/// Say what it answers, give the app its `client()`, and let things happen: events, delegates' questions, a restart.
/// Everything else is real: what the client encodes, tries again, resumes and throws.
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
/// Subscriptions and `delegate.attach` work by themselves, see `emit` and `ask`; any other method without an answer is
/// refused with `methodNotFound`, which names it.
public final class ScriptedDaemon: Sendable {
  /// One call that the daemon got.
  public struct Call: Sendable, Hashable {
    /// The method's name.
    public let method: String
    /// What came with it.
    public let params: JSON

    /// A call to compare with.
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

  /// A daemon that listens and has no answers yet.
  ///
  /// - Parameters:
  ///   - serverUid: as whom it runs; unless given as the test's own user, whom clients trust.
  ///   - serverPid: the process that listens; 1 is the service manager.
  public init(serverUid: UInt32? = nil, serverPid: Int32 = 2) {
    self.serverUid = serverUid ?? Self.ownUid
    self.serverPid = serverPid
    answerSubscriptions()
    answerDelegates()
  }

  /// A client of this daemon.
  ///
  /// - Parameter options: its pauses can be shortened by `sleep`.
  public func client(options: ClientOptions = ClientOptions()) -> SDKClient {
    SDKClient(socket: .path(Self.path), options: options, connector: connector)
  }

  /// Connects to this daemon, whatever the path: for what takes a connector.
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

  /// Answers a method; its latest answer counts.
  ///
  /// The params are checked as the daemon checks them. An `SDKError` that is thrown is the refusal.
  public func on<M: RPCMethod>(
    _ method: M.Type, _ answer: @escaping @Sendable (M.Params) async throws -> M.Result
  ) {
    on(M.name) { params in try JSONValueEncoder.encode(try await answer(try M.decode(params))) }
  }

  /// Answers a method by its name, such as those of the kinds.
  public func on(_ name: String, _ answer: @escaping @Sendable (_ params: JSON) async throws -> JSON) {
    state.withLock { $0.answers[name] = { params, _ in try await answer(params) } }
  }

  /// Answers every method that has no answer of its own.
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

  // MARK: What was asked

  /// All calls so far, in order.
  public var calls: [Call] { state.withLock { $0.calls } }

  /// The params of all calls of a method so far.
  ///
  /// - Throws: `RPCError` for params that are not of the method's shape.
  public func calls<M: RPCMethod>(of method: M.Type) throws -> [M.Params] {
    try calls.filter { $0.method == M.name }.map { try M.decode($0.params) }
  }

  /// Waits until a method was called so many times.
  ///
  /// - Throws: `ScriptedTimeout` when it was not by then.
  public func waitForCalls(of method: String, count: Int = 1, within limit: Duration = .seconds(10)) async throws {
    try await ScriptedTimeout.wait(for: "\(count) calls of \(method)", within: limit) {
      calls.count { $0.method == method } >= count
    }
  }
}
