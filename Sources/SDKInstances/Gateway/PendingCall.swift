public import JSONRPC
import SDKProtocol

/// A call that has taken its place. `run` or `abandon` is called once.
public struct PendingCall: Sendable {
  private let gateway: Gateway
  private let method: any SDKMethod.Type
  private let context: CallContext
  private let operation: Router<CallContext>.Operation
  /// The writes on this connection that it must see.
  private let earlier: [SharedOutcome<Void>]
  /// For a write: what later reads wait for.
  private let own: [(instance: InstanceID, outcome: SharedOutcome<Void>)]

  /// - Parameters:
  ///   - instance: the one that the call is about; `nil` for all.
  ///   - written: those that a write is about.
  init(
    gateway: Gateway, method: any SDKMethod.Type, instance: InstanceID?, written: [InstanceID], context: CallContext,
    _ operation: @escaping Router<CallContext>.Operation
  ) {
    self.gateway = gateway
    self.method = method
    self.context = context
    self.operation = operation
    switch method.ordering {
    case .free:
      earlier = []
      own = []
    case .read:
      earlier = context.session.pendingWrites(instance)
      own = []
    case .write(let waits):
      earlier = waits ? context.session.pendingWrites(instance) : []
      own = written.map { ($0, context.session.beginWrite($0)) }
    }
  }

  /// Runs it in its turn. The result is JSON text.
  public func run() async -> Result<[UInt8], RPCError> {
    defer { end() }
    do {
      for write in earlier { try await write.value() }
    } catch {
      return .failure(.cancelled)
    }
    await context.place?.turn()
    return await gateway.run(method, operation)
  }

  /// Gives its place back without running it.
  public func abandon() { end() }

  /// The reply is on its way.
  public func answered() async {
    for work in context.followUps.take() { await work() }
  }

  private func end() {
    context.place?.release()
    for write in own { context.session.endWrite(write.instance, write.outcome) }
  }
}
