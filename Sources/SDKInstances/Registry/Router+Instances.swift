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
  ///
  /// The role is checked again when a read has its result or error, since the caller may have lost it while the call
  /// waited. The result of a write is returned in any case: it says what was done.
  public mutating func register<M: SDKMethod>(
    on registry: InstanceRegistry, _ method: M.Type,
    handler: @escaping @Sendable (M.Params, HostedInstance, CallContext) async throws -> M.Result
  ) where M.Params: InstanceParams {
    let bearsCredential = M.Result.self is any CredentialBearing.Type
    register(on: registry, M.self, encoding: { try EncodedResult<M>($0) }) { params, instance, context in
      let result = try await handler(params, instance, context)
      let bearing = bearsCredential ? result as? any CredentialBearing : nil
      return (result, bearing?.issued.map { .init(tokenId: $0, service: bearing?.issuedService) })
    }
  }

  /// Registers such a handler that encodes its result itself. The result has no credential.
  mutating func register<M: SDKMethod>(
    on registry: InstanceRegistry, _ method: M.Type,
    handler: @escaping @Sendable (M.Params, HostedInstance, CallContext) async throws -> EncodedResult<M>
  ) where M.Params: InstanceParams {
    register(on: registry, M.self, encoding: { $0 }) { (try await handler($0, $1, $2), nil) }
  }

  private mutating func register<M: SDKMethod, Value: Sendable>(
    on registry: InstanceRegistry, _ method: M.Type, encoding: @escaping @Sendable (Value) throws -> EncodedResult<M>,
    handler:
      @escaping @Sendable (M.Params, HostedInstance, CallContext) async throws -> (
        value: Value, issued: EndedCall.IssuedCredential?
      )
  ) where M.Params: InstanceParams {
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
      /// Throws unless the caller still has the role, on the same instance.
      func checkAgain() throws {
        let present = try registry.find(params.instance, for: context.peer, atLeast: needed).instance
        // Another instance may have the name by now.
        guard present.uuid == instance.uuid else { throw SDKError.instanceNotFound(params.instance) }
      }
      let outcome: Result<(value: Value, issued: EndedCall.IssuedCredential?), any Error>
      do {
        let params = try await waiting(for: context, params, of: instance.id)
        if !context.logins.isEmpty { try checkAgain() }
        outcome = .success(try await handler(params, instance, context))
      } catch {
        outcome = .failure(error)
      }
      if case .read = M.ordering { try checkAgain() }
      let result = try outcome.get()
      if let issued = result.issued { context.noteIssued(issued.tokenId, service: issued.service) }
      return try encoding(result.value)
    }
  }
}

/// Waits for the logins that a call waits for.
///
/// - Returns: the params, with the time that is left to the call.
private func waiting<Params>(
  for context: CallContext, _ params: Params, of instance: InstanceID
) async throws -> Params {
  guard !context.logins.isEmpty else { return params }
  let limited = params as? any TimeLimited
  let limit = WaitLimit(limited?.timeout?.value)
  try await context.awaitLogins(of: instance, within: limit)
  guard var limited, let left = limit.left.flatMap({ Seconds($0) }) else { return params }
  limited.timeout = left
  return limited as? Params ?? params
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
