import Concurrency
import JSONRPC
import SDKProtocol
import Synchronization

/// An accepted call, which has a position in the write order and has not run yet.
final class PendingCall: AcceptedCall {
  private let gateway: Gateway
  private let method: any SDKMethod.Type
  private let observation: CallObservation?
  private let subject: CallSubject
  /// The time of acceptance, by the gateway's clock.
  private let start: Duration
  private let context: CallContext
  private let operation: CallRouter.Operation
  /// The earlier writes on this connection, for which the call waits so that it sees their results.
  private let earlier: [PendingWrite]
  /// For a write: its entries in the session, one for each instance, which later calls wait for.
  private let own: [(instance: InstanceID, write: PendingWrite)]

  /// Creates a call and counts it as unfinished. A write is registered with the session, so that later calls wait for
  /// it.
  ///
  /// - Parameters:
  ///   - subject: the instances that the call is about.
  ///   - written: the instances that a write changes.
  ///   - observation: called when the call has ended.
  ///   - start: the time of acceptance.
  init(
    gateway: Gateway, method: any SDKMethod.Type, subject: CallSubject, written: [InstanceID], context: CallContext,
    observation: CallObservation?, start: Duration, _ operation: @escaping CallRouter.Operation
  ) {
    self.gateway = gateway
    self.method = method
    self.observation = observation
    self.subject = subject
    self.start = start
    self.operation = operation
    switch method.ordering {
    case .free:
      earlier = []
      own = []
    case .read:
      earlier = context.session.pendingWrites(subject.instance, for: method.concern)
      own = []
    case .write(let waits):
      earlier = waits ? context.session.pendingWrites(subject.instance, for: method.concern) : []
      own = written.map { ($0, PendingWrite(method.concern)) }
    }
    for (instance, write) in own { context.session.begin(write, on: instance) }
    var context = context
    if method.concern != .instance { context.logins = earlier.map(\.settled) }
    self.context = context
    gateway.unfinished.wrappingAdd(1, ordering: .relaxed)
  }

  /// Runs the call after the writes that precede it. The result is JSON text.
  func run() async -> Result<[UInt8], RPCError> {
    defer { end() }
    let result = await outcome()
    if result.failure?.reason == Reason.shuttingDown.rawValue {
      // Another daemon may run the request and report its end. The process is looked up here, because `refused` must not.
      if observation != nil { _ = context.peer.process }
    } else {
      tell(result)
    }
    return result
  }

  /// Notifies the observers that the call was refused and runs nowhere else.
  func refused(with error: RPCError) { tell(.failure(error), isImmediate: true) }

  private func outcome() async -> Result<[UInt8], RPCError> {
    if !earlier.isEmpty || context.place?.isFirst == false {
      do {
        try await gateway.operations.drain.repeatable { [earlier, context] in
          for write in earlier { try await write.ended.value() }
          await context.place?.turn()
        }
      } catch {
        return .failure((error as? SDKError)?.rpcError ?? .cancelled)
      }
    }
    // An earlier write may have been refused because the daemon stops. This call must not run without it.
    if !earlier.isEmpty || context.place != nil, gateway.operations.drain.hasBegun {
      return .failure(SDKError.shuttingDown.rpcError)
    }
    return await gateway.run(method, in: context, operation)
  }

  /// Releases the call's position in the write order without running the call.
  func abandon() {
    end()
    tell(.failure(.cancelled))
  }

  private func tell(_ result: Result<[UInt8], RPCError>, isImmediate: Bool = false) {
    guard let observation else { return }
    let named = subject.all
    observation(
      EndedCall(
        method: method, instance: named.count == 1 ? named[0] : nil, instances: named.count > 1 ? named : [],
        peer: context.peer, failure: result.failure, issued: context.notes.issued,
        duration: gateway.clock.now() - start, isImmediate: isImmediate))
  }

  /// Whether the handler has scheduled work for after the reply.
  var awaitsAnswer: Bool { context.notes.hasFollowUps }

  /// Starts the work that the handler scheduled for after the reply, without waiting for it.
  func answered() { gateway.operations.start(followUp) }

  /// Runs the work that the handler scheduled for after the reply.
  func followUp() async {
    for work in context.notes.takeFollowUps() { await work() }
  }

  private func end() {
    gateway.unfinished.wrappingSubtract(1, ordering: .relaxed)
    context.place?.release()
    guard let login = context.notes.login else {
      for (instance, write) in own { context.session.settle(write, on: instance) }
      return
    }
    for (_, write) in own { write.end(leaving: login) }
    gateway.operations.start { [session = context.session, own] in
      let result: Result<Void, any Error>
      do { result = .success(try await login.end()) } catch { result = .failure(error) }
      for (instance, write) in own { session.settle(write, on: instance, result) }
    }
  }
}

extension Result {
  /// The error; `nil` for a success.
  var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
