public import DelegateBridge
public import JSONRPC
public import Logging
public import SDKProtocol
import Synchronization

/// The entry point of all calls: finds the method, orders writes and reads, and turns errors into error responses.
public final class Gateway: Sendable {
  /// A method with its route and its observer, so that one look-up finds all three.
  private final class RoutedMethod: Sendable {
    let method: any SDKMethod.Type
    let read: CallRouter.Read
    let shortcut: Shortcut?
    let observation: CallObservation?

    init(
      _ method: any SDKMethod.Type, _ read: @escaping CallRouter.Read, _ shortcut: Shortcut?,
      _ observation: CallObservation?
    ) {
      self.method = method
      self.read = read
      self.shortcut = shortcut
      self.observation = observation
    }
  }

  /// The methods, by the number of bytes in their names. Few methods have names of one length, and a look-up in a
  /// dictionary takes four times as many instructions.
  private struct MethodTable {
    private let byLength: [[(name: String, method: RoutedMethod)]]

    init(_ methods: [(String, RoutedMethod)]) {
      var byLength: [[(name: String, method: RoutedMethod)]] = []
      for (name, method) in methods {
        while byLength.count <= name.utf8.count { byLength.append([]) }
        byLength[name.utf8.count].append((name, method))
      }
      self.byLength = byLength
    }

    /// The names of all methods.
    var names: [String] { byLength.joined().map(\.name) }

    subscript(name: String) -> RoutedMethod? {
      let length = name.utf8.count
      guard length < byLength.count else { return nil }
      for index in byLength[length].indices where byLength[length][index].name.hasSameBytes(as: name) {
        return byLength[length][index].method
      }
      return nil
    }
  }

  private let entries: MethodTable
  private let unknownMethods: CallObservation?
  let clock: MonotonicClock
  private let lanes = WriteLanes()
  private let logger: Logger
  let events: EventHub
  let delegates: Delegates
  private let registry: InstanceRegistry
  let operations: Operations

  /// The number of calls that wait or run.
  public var callsInProgress: Int { unfinished.load(ordering: .relaxed) }
  /// The atomic counter behind `callsInProgress`. Each `PendingCall` raises it, and lowers it at its end.
  let unfinished = Atomic(0)

  /// Creates a gateway for a router that has the handlers of all methods.
  ///
  /// - Parameters:
  ///   - shortcuts: answer some calls at once.
  ///   - observers: notified when calls end.
  ///   - clock: times calls for the observers.
  public init(
    router: CallRouter, methods: [any SDKMethod.Type], shortcuts: [Shortcut], registry: InstanceRegistry,
    operations: Operations, events: EventHub, delegates: Delegates, logger: Logger, observers: [any CallObserver] = [],
    clock: MonotonicClock = .system
  ) {
    let known = methods.compactMap { method in
      router[method.name].map { route in
        let shortcut = shortcuts.first { $0.name == method.name }
        return (method.name, RoutedMethod(method, route.read, shortcut, observers.observation(of: method)))
      }
    }
    entries = MethodTable(known)
    self.registry = registry
    self.operations = operations
    unknownMethods = observers.observation(of: nil)
    self.clock = clock
    self.events = events
    self.delegates = delegates
    self.logger = logger
  }

  /// Whether a method's request may be larger than 64 KiB.
  public func takesLargeFrames(_ method: String) -> Bool { entries[method]?.method.takesLargeFrames ?? false }

  /// Checks and decodes the params of a request, so that `accept` need not. Can run on any thread.
  public func prepare(_ request: RPCRequest) -> RPCRequest {
    guard let entry = entries[request.method] else { return request }
    var request = request
    do throws(RPCError) {
      request.prepared = PreparedCall(.success(try entry.read(request.params)))
    } catch {
      request.prepared = PreparedCall(.failure(error))
    }
    return request
  }

  /// The result of reading a request's params.
  private final class PreparedCall: Sendable {
    let result: Result<CallRouter.ReadCall, RPCError>
    init(_ result: Result<CallRouter.ReadCall, RPCError>) { self.result = result }
  }

  /// Accepts a request: checks its params, assigns its position in the write order, and responds at once if possible.
  /// Must be called in the order of arrival.
  public func accept(_ request: RPCRequest, session: ClientSession) -> Acceptance {
    guard let entry = entries[request.method] else {
      let error = RPCError.methodNotFound(request.method, nearest: request.method.nearestMethod(in: entries.names))
      refused(request, error, by: session)
      return .reply(.failure(error))
    }
    let start = entry.observation == nil ? .zero : clock.now()
    if let answer = entry.shortcut?.answer(request.params, session) { return reply(answer, entry, session, start) }
    let (method, observation) = (entry.method, entry.observation)
    let call: CallRouter.ReadCall
    do throws(RPCError) {
      let prepared = request.prepared as? PreparedCall
      call = if let prepared { try prepared.result.get() } else { try entry.read(request.params) }
    } catch {
      refused(request, error, by: session)
      return .reply(.failure(error))
    }
    let instance = call.subject.instance
    var refusal: SDKError?
    var place: WriteLanes.Place?
    var written: [InstanceID] = []
    if case .write = method.ordering {
      written = call.subject.all
      // Reject unauthorized writes before they are queued, so that timing does not reveal hidden instances.
      if registry.availability.isServing {
        (written, refusal) = registry.admit(written, to: method.access, for: session.link.peer)
      }
      // A registration may take as long as a person does, and no other write waits for it.
      if refusal == nil, method.concern != .push {
        place = lanes.take(written, session: instance == nil ? session.key : nil)
      }
    }
    let refused: CallRouter.Operation? = if let refusal { { _ in throw refusal } } else { nil }
    return .run(
      PendingCall(
        gateway: self, method: method, subject: call.subject, written: written,
        context: CallContext(session: session, place: place), observation: observation, start: start,
        refused ?? call.run))
  }

  private func reply(_ answer: ShortAnswer, _ entry: RoutedMethod, _ session: ClientSession, _ start: Duration)
    -> Acceptance
  {
    var failure: RPCError?
    do throws(SDKError) { try ReplyBound.check(answer.text, to: entry.method) } catch { failure = error.rpcError }
    entry.observation?(
      EndedCall(
        method: entry.method, instance: answer.instance, peer: session.link.peer, failure: failure,
        issued: answer.issued, duration: clock.now() - start, isImmediate: true))
    return .reply(failure.map { .failure($0) } ?? .success(answer.text))
  }

  /// Notifies the observers of a request that was refused, either by `accept` or by the caller of the gateway.
  public func refused(_ request: RPCRequest, _ error: RPCError, by session: ClientSession) {
    let entry = entries[request.method]
    guard let observation = entry.map(\.observation) ?? unknownMethods else { return }
    observation(
      EndedCall(
        method: entry?.method, instance: Self.instance(in: request.params), peer: session.link.peer, failure: error,
        issued: nil, duration: .zero, isImmediate: true))
  }

  /// Notifies the observers of a refused connection.
  public func refused(_ peer: Peer, _ error: RPCError) {
    unknownMethods?(
      EndedCall(
        method: nil, instance: nil, peer: peer, failure: error, issued: nil, duration: .zero, isImmediate: true))
  }

  /// Returns the instance in params that could not be decoded, for the observers.
  private static func instance(in params: JSON?) -> InstanceID? {
    params?["instance"]?.stringValue.flatMap { InstanceID($0) }
  }

  /// Starts to remove the subscriptions and delegates of a connection that has ended. Does not wait for it.
  public func ended(_ session: ClientSession) {
    operations.start { await self.endSubscriptionsAndDelegates(of: session) }
  }

  func endSubscriptionsAndDelegates(of session: ClientSession) async {
    await events.end(session.key)
    await delegates.end(session)
  }

  /// Runs the operation of an accepted call.
  func run(
    _ method: any SDKMethod.Type, in context: CallContext, _ operation: CallRouter.Operation
  ) async -> Result<[UInt8], RPCError> {
    do {
      try await registry.availability.waitForStart(unless: operations.drain)
      if method.needsState, let error = registry.availability.failure { throw error }
      try Task.checkCancellation()
      if method.access == .role(.admin), !registry.access.isAdmin(context.peer) {
        throw SDKError.accessDenied("Only an admin may call \(method.name); ask one.")
      }
      let reply = try await operation(context)
      try ReplyBound.check(reply, to: method)
      return .success(reply)
    } catch {
      return .failure(answer(for: error, method: method.name))
    }
  }

  private func answer(for error: any Error, method: String) -> RPCError {
    if let known = error as? any RPCErrorConvertible { return known.rpcError }
    if error is CancellationError { return .cancelled }
    let reference = RandomUUID.make()
    // Log only the type: an unknown error's text may hold anything, secrets included.
    logger.error(
      "An unexpected error of type \(type(of: error)) ended a call.",
      metadata: [
        "method": "\(method)", "reference": "\(reference)", "messageID": "\(JournalMessage.internalError.id)",
      ])
    return .internalError(reference: reference)
  }
}
