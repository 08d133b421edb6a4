public import JSONRPC
import SDKProtocol

/// A call that has taken its place. `run` or `abandon` is called once.
public struct PendingCall: Sendable {
  private let gateway: Gateway
  private let method: any SDKMethod.Type
  private let instance: InstanceID?
  private let context: CallContext
  private let operation: Router<CallContext>.Operation
  /// The writes on this connection that it must see.
  private let earlier: [SharedOutcome<Void>]
  /// For a write: what later reads wait for.
  private let own: SharedOutcome<Void>?

  init(
    gateway: Gateway, method: any SDKMethod.Type, instance: InstanceID?, context: CallContext,
    _ operation: @escaping Router<CallContext>.Operation
  ) {
    self.gateway = gateway
    self.method = method
    self.instance = instance
    self.context = context
    self.operation = operation
    switch method.ordering {
    case .free:
      earlier = []
      own = nil
    case .read:
      earlier = context.session.pendingWrites(instance)
      own = nil
    case .write(let waits):
      earlier = waits ? context.session.pendingWrites(instance) : []
      own = instance.map { context.session.beginWrite($0) }
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
    if let instance, let own { context.session.endWrite(instance, own) }
  }
}
