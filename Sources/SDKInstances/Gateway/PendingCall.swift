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
  /// The ends of earlier writes on this connection, for which the call waits so that it sees their results.
  private let earlier: [Promise<Void>]
  /// For a write: the promises of its end, one for each instance, which later reads wait for.
  private let own: [(instance: InstanceID, outcome: Promise<Void>)]

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
    self.context = context
    self.operation = operation
    switch method.ordering {
    case .free:
      earlier = []
      own = []
    case .read:
      earlier = context.session.pendingWrites(subject.instance)
      own = []
    case .write(let waits):
      earlier = waits ? context.session.pendingWrites(subject.instance) : []
      own = written.map { ($0, context.session.beginWrite($0)) }
    }
    gateway.unfinished.wrappingAdd(1, ordering: .relaxed)
  }

  /// Runs the call after the writes that precede it. The result is JSON text.
  func run() async -> Result<[UInt8], RPCError> {
    defer { end() }
    let result = await outcome()
    tell(result)
    return result
  }

  private func outcome() async -> Result<[UInt8], RPCError> {
    do {
      for write in earlier { try await write.value() }
    } catch {
      return .failure(.cancelled)
    }
    await context.place?.turn()
    return await gateway.run(method, in: context, operation)
  }

  /// Releases the call's position in the write order without running the call.
  func abandon() {
    end()
    tell(.failure(.cancelled))
  }

  private func tell(_ result: Result<[UInt8], RPCError>) {
    guard let observation else { return }
    let named = subject.all
    observation(
      EndedCall(
        method: method, instance: named.count == 1 ? named[0] : nil, instances: named.count > 1 ? named : [],
        peer: context.peer, failure: result.failure, issued: context.notes.issued,
        duration: gateway.clock.now() - start, isImmediate: false))
  }

  /// Starts the work that the handler scheduled for after the reply, without waiting for it.
  func answered() { gateway.operations.start(followUp) }

  /// Runs the work that the handler scheduled for after the reply.
  func followUp() async {
    for work in context.notes.takeFollowUps() { await work() }
  }

  private func end() {
    gateway.unfinished.wrappingSubtract(1, ordering: .relaxed)
    context.place?.release()
    for write in own { context.session.endWrite(write.instance, write.outcome) }
  }
}

extension Result {
  /// The error; `nil` for a success.
  var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
