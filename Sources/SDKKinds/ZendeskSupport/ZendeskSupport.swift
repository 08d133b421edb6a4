import DelegateBridge
public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// The Zendesk Support SDK.
public struct ZendeskSupport: SDKKind {
  /// Creates the kind.
  public init() {}

  public var name: KindName { .zendeskSupport }
  public var summary: String { "The Zendesk Support SDK." }
  public let settings = KindSettings(
    schema: SupportSettings.jsonSchema, urls: ["base_url"], bases: ["base_url"],
    backend: ["base_url", "app_id", "client_id"], vendorDomains: ["zendesk.com"])
  public var methods: [any SDKMethod.Type] {
    [SupportSetIdentity.self, SupportGetIdentity.self, SupportClearIdentity.self]
  }

  public func register(in router: inout CallRouter, registry: InstanceRegistry) {
    router.register(on: registry, SupportSetIdentity.self) { params, instance, context in
      .init(try await instance.set(params.identity.identity, refusing: params.onChange == .refuse, context))
    }
    router.register(on: registry, SupportGetIdentity.self) { _, instance, _ in
      .init(identity: SupportIdentity(try await instance.identity().kindState).map { .init($0) })
    }
    router.register(on: registry, SupportClearIdentity.self) { _, instance, context in
      _ = try await instance.signOut(localOnly: true, accepted: context.accepted)
      return Empty()
    }
  }

  public func makeAdapter(settings: JSONObject, services: AdapterServices) throws -> any SDKAdapter {
    SupportAdapter(
      settings: try Settings.decode(SupportSettings.self, from: settings, at: "settings"), services: services)
  }
}

extension HostedInstance {
  /// Sets an identity. If the owner must supply the unique id, the call releases its place in the write order first, so
  /// that later calls don't wait for the owner.
  fileprivate nonisolated func set(
    _ identity: SupportIdentity, refusing: Bool, _ context: CallContext
  ) async throws -> SignInOutcome {
    do {
      return try await signIn(accepted: context.accepted) { (adapter: SupportAdapter, record, isUsable) in
        try adapter.offer(identity, over: record, isUsable: isUsable, refusing: refusing)
      }
    } catch is SupportAdapter.OwnerNeeded {
      context.accepted()
    }
    // The owner may have supplied the unique id for a login in progress.
    if let shared = try await joinLogin({ SupportIdentity($0.details)?.isSupplied == true }) { return shared }
    let (answer, epoch) = try await askOwner(.getToken)
    do {
      let outcome = try await signIn(since: epoch, accepted: {}) { (adapter: SupportAdapter, record, isUsable) in
        let supplied = try adapter.supplied(answer).identity
        return try adapter.offer(supplied, over: record, isUsable: isUsable, refusing: refusing)
      }
      try judgeAnswer(isUsable: true)
      return outcome
    } catch {
      try judgeAnswer(isUsable: (error as? SDKError)?.reason != .providerOutputInvalid)
      throw error
    }
  }
}
