public import JSONRPC
public import SDKProtocol

/// The params of a method whose calls are about one instance.
public protocol InstanceParams {
  /// The name of the instance that the call is about.
  var instance: InstanceID { get }
}

/// The params of a method whose caller may limit the time that it waits.
protocol TimeLimited {
  /// The maximum time to wait; `nil` for no limit.
  var timeout: Seconds? { get set }
}

extension CallRouter {
  /// Registers the handler of a method on one instance. Role, existence and kind are checked before the handler runs.
  public mutating func register<M: SDKMethod>(
    on registry: InstanceRegistry, _ method: M.Type,
    handler: @escaping @Sendable (M.Params, HostedInstance, CallContext) async throws -> M.Result
  ) where M.Params: InstanceParams {
    let bearsCredential = M.Result.self is any CredentialBearing.Type
    register(M.self, about: { .instance($0.instance) }) { params, context in
      let needed: Role = if case .role(let role) = M.access { role } else { .admin }
      let (instance, role) = try registry.find(params.instance, for: context.peer, atLeast: needed)
      var context = context
      context.role = role
      if let kind = M.kind, kind != instance.kind {
        throw SDKError(
          .state, .wrongKind, "\(M.name) is a method of \(kind), and \(instance.id) is of kind \(instance.kind).",
          instance: instance.id)
      }
      var params = params
      if !context.logins.isEmpty {
        let limited = params as? any TimeLimited
        let limit = WaitLimit(limited?.timeout?.value)
        try await context.awaitLogins(of: instance.id, within: limit)
        if var limited, let left = limit.left.flatMap({ Seconds($0) }) {
          limited.timeout = left
          params = limited as? M.Params ?? params
        }
      }
      let result = try await handler(params, instance, context)
      if bearsCredential, let bearing = result as? any CredentialBearing, let tokenId = bearing.issued {
        context.noteIssued(tokenId, service: bearing.issuedService)
      }
      return result
    }
  }
}

extension OneInstance: InstanceParams {}
extension InstanceUpdate.Params: InstanceParams {}
extension InstanceDelete.Params: InstanceParams {}
extension InstanceCurrentUser.Params: InstanceParams {}
extension SessionOpen.Params: InstanceParams, TimeLimited {}
extension TokenGet.Params: InstanceParams, TimeLimited {}
extension TokenRefresh.Params: InstanceParams, TimeLimited {}
extension TokenReject.Params: InstanceParams {}
extension StorageGet.Params: InstanceParams {}
extension StoragePut.Params: InstanceParams {}
extension StorageList.Params: InstanceParams {}
extension PushRegister.Params: InstanceParams {}
extension PushUnregister.Params: InstanceParams {}
extension PushList.Params: InstanceParams {}
