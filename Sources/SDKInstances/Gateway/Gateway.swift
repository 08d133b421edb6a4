import Concurrency
public import JSONRPC
public import Logging
public import SDKProtocol
import Synchronization

/// The entrance of all calls: finds the method, keeps the order of writes and reads, and turns errors into answers.
public final class Gateway: Sendable {
  /// What becomes of a request.
  public enum Admission: Sendable {
    /// Answered at once; the result is JSON text.
    case reply(Result<[UInt8], RPCError>)
    /// To be run.
    case run(PendingCall)
  }

  /// All that is known of a method, found by one look.
  private struct Entry: Sendable {
    let method: any SDKMethod.Type
    let read: Router<CallContext>.Read
    let hearer: CallHearer?
  }

  private let entries: [String: Entry]
  private let strangers: CallHearer?
  let clock: MonotonicClock
  private let lanes = WriteLanes()
  private let readiness = Promise<Void>()
  private let failure = Mutex<SDKError?>(nil)
  private let logger: Logger
  private let events: EventHub
  private let delegates: Delegates
  private let registry: InstanceRegistry

  /// A gateway over complete routes.
  ///
  /// - Parameters:
  ///   - observers: who hears how calls end.
  ///   - clock: by which calls are timed for them.
  public init(
    router: Router<CallContext>, methods: [any SDKMethod.Type], registry: InstanceRegistry, events: EventHub,
    delegates: Delegates, logger: Logger, observers: [any CallObserver] = [], clock: MonotonicClock = .system
  ) {
    let known = methods.compactMap { method in
      router[method.name].map {
        (method.name, Entry(method: method, read: $0.read, hearer: observers.hearer(of: method)))
      }
    }
    entries = Dictionary(known, uniquingKeysWith: { first, _ in first })
    self.registry = registry
    strangers = observers.hearer(of: nil)
    self.clock = clock
    self.events = events
    self.delegates = delegates
    self.logger = logger
  }

  /// Lets calls in: every instance is restored. Before, they wait.
  public func open() { readiness.resolve(.success(())) }

  /// Answers every call that needs state with this reason from now on.
  public func open(failing error: SDKError) {
    failure.withLock { $0 = error }
    open()
  }

  /// Serves calls after all: what was in the way is mended.
  public func heal() { failure.withLock { $0 = nil } }

  /// Why calls can't be served, if they can't.
  public var failing: SDKError? { failure.withLock { $0 } }

  /// Whether cached answers may be given.
  var isReady: Bool { readiness.result != nil && failing == nil }

  /// Whether a method's request may be larger than 64 KiB.
  public func takesLargeFrames(_ method: String) -> Bool { entries[method]?.method.takesLargeFrames ?? false }

  /// Checks and decodes the params of a request before `accept`, which then need not. Runs on any thread.
  public func prepare(_ request: RPCRequest) -> RPCRequest {
    guard let entry = entries[request.method] else { return request }
    var request = request
    do throws(RPCError) {
      request.prepared = ReadResult.success(try entry.read(request.params))
    } catch {
      request.prepared = ReadResult.failure(error)
    }
    return request
  }

  private typealias ReadResult = Result<Router<CallContext>.ReadCall, RPCError>

  /// Takes a request in the order of arrival: checks its shape, takes its place, answers at once if it can.
  public func accept(_ request: RPCRequest, session: ClientSession) -> Admission {
    guard let entry = entries[request.method] else {
      let error = RPCError.methodNotFound(request.method, nearest: request.method.nearest(in: entries.keys))
      refused(request, error, by: session)
      return .reply(.failure(error))
    }
    let (method, hearer) = (entry.method, entry.hearer)
    let start = hearer == nil ? .zero : clock.now()
    let instance = Self.instance(in: request.params)
    var refusal: SDKError?
    var place: WriteLanes.Place?
    var written: [InstanceID] = []
    if case .write = method.ordering {
      written = instance.map { [$0] } ?? Self.instances(in: request.params)
      // Whoever may not write waits for nobody, and nobody for them: neither the time nor the order tells what is hidden.
      if isReady { (written, refusal) = registry.admit(written, to: method.access, for: session.link.peer) }
      if refusal == nil { place = lanes.take(written, session: instance == nil ? session.key : nil) }
    }
    let context = CallContext(session: session, place: place)
    do throws(RPCError) {
      let prepared = request.prepared as? ReadResult
      let call = if let prepared { try prepared.get() } else { try entry.read(request.params) }
      switch call.begin(context) {
      case .immediate(let answer):
        place?.release()
        do throws(SDKError) { try ReplyBound.check(answer, to: method) } catch { throw error.rpcError }
        hearer?(
          EndedCall(
            method: method, instance: instance, peer: session.link.peer, failure: nil,
            handedOut: context.notes.handedOut, duration: clock.now() - start, isImmediate: true))
        return .reply(.success(answer))
      case .deferred(let operation):
        let refused: Router<CallContext>.Operation? = if let refusal { { throw refusal } } else { nil }
        return .run(
          PendingCall(
            gateway: self, method: method, instance: instance, written: written, context: context, hearer: hearer,
            start: start, refused ?? operation))
      }
    } catch {
      place?.release()
      refused(request, error, by: session)
      return .reply(.failure(error))
    }
  }

  /// Tells the observers of a request that was answered with an error without being accepted: here, or before it came
  /// here.
  public func refused(_ request: RPCRequest, _ error: RPCError, by session: ClientSession) {
    let entry = entries[request.method]
    guard let hearer = entry.map(\.hearer) ?? strangers else { return }
    hearer(
      EndedCall(
        method: entry?.method, instance: Self.instance(in: request.params), peer: session.link.peer, failure: error,
        handedOut: nil, duration: .zero, isImmediate: true))
  }

  /// Tells the observers of a connection that was refused.
  public func refused(_ peer: Peer, _ error: RPCError) {
    strangers?(
      EndedCall(
        method: nil, instance: nil, peer: peer, failure: error, handedOut: nil, duration: .zero, isImmediate: true))
  }

  private static func instance(in params: JSON?) -> InstanceID? {
    params?["instance"]?.stringValue.flatMap { InstanceID($0) }
  }

  /// The instances of a write on several. More than can be named in one call are refused by their method.
  private static func instances(in params: JSON?) -> [InstanceID] {
    let named = (params?["instances"]?.arrayValue ?? []).prefix(DelegateSeats.maximumPerSession)
    var seen = Set<InstanceID>()
    return named.compactMap { $0.stringValue.flatMap { InstanceID($0) } }.filter { seen.insert($0).inserted }
  }

  /// The connection has ended.
  public func ended(_ session: ClientSession) async {
    await events.end(session.key)
    await delegates.end(session)
  }

  /// Runs a call that has its place.
  func run(_ method: any SDKMethod.Type, _ operation: Router<CallContext>.Operation) async -> Result<[UInt8], RPCError>
  {
    do {
      try await readiness.value()
      if let error = failing, !Self.needsNoState.contains(method.name) { throw error }
      try Task.checkCancellation()
      let reply = try await operation()
      try ReplyBound.check(reply, to: method)
      return .success(reply)
    } catch {
      return .failure(answer(for: error, method: method.name))
    }
  }

  private static let needsNoState: Set<String> = [
    RPCDiscover.name, DaemonInfo.name, DaemonHealth.name, DaemonMetrics.name, DaemonReload.name,
  ]

  private func answer(for error: any Error, method: String) -> RPCError {
    if let known = error as? any RPCErrorConvertible { return known.rpcError }
    if error is CancellationError { return .cancelled }
    let reference = RandomUUID.make()
    // The type alone: an unknown error's text may hold anything.
    logger.error(
      "An unexpected error of type \(type(of: error)) ended a call.",
      metadata: [
        "method": "\(method)", "reference": "\(reference)", "messageID": "\(JournalMessage.internalError.id)",
      ])
    return .internalError(reference: reference)
  }
}
