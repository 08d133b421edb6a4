public import JSONRPC
public import SDKProtocol

/// The subject of a call: the instances whose earlier calls it waits for.
public enum CallSubject: Sendable, Hashable {
  /// The daemon as a whole.
  case daemon
  /// A single instance.
  case instance(InstanceID)
  /// Several instances.
  case instances([InstanceID])

  /// The instance; `nil` unless the subject is a single instance.
  var instance: InstanceID? { if case .instance(let id) = self { id } else { nil } }

  /// Every instance, once.
  var all: [InstanceID] {
    switch self {
    case .daemon: return []
    case .instance(let id): return [id]
    case .instances(let ids):
      var seen = Set<InstanceID>()
      return ids.filter { seen.insert($0).inserted }
    }
  }
}

/// The router of calls to the handlers of all methods.
public typealias CallRouter = Router<CallContext, CallSubject>

extension CallRouter {
  /// Registers the handler of a method whose subject is the daemon as a whole.
  mutating func register<M: SDKMethod>(
    _ method: M.Type, handler: @escaping @Sendable (M.Params, CallContext) async throws -> M.Result
  ) {
    register(method, about: { _ in .daemon }, handler: handler)
  }

  /// Registers such a handler that encodes its result itself.
  mutating func register<M: SDKMethod>(
    _ method: M.Type, handler: @escaping @Sendable (M.Params, CallContext) async throws -> EncodedResult<M>
  ) {
    register(method, about: { _ in .daemon }, handler: handler)
  }
}
