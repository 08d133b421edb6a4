public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// Messaging for In-App and Web of Salesforce, the successor of the Service Chat SDK.
public struct SalesforceMessaging: SDKKind {
  /// The exchanges of all instances.
  private let budget = MessagingInAppBudget()

  /// Creates the kind.
  public init() {}

  public var name: KindName { .salesforceMessaging }
  public var summary: String { "Salesforce Messaging for In-App and Web." }
  public let settings = KindSettings(
    schema: MessagingInAppSettings.jsonSchema, urls: ["base_url"], bases: ["base_url"],
    hiddenURLs: { settings in
      MessagingInAppSettings.url(ofConfiguration: settings["configuration"]).map { ["configuration": $0] } ?? [:]
    },
    backend: ["base_url", "org_id", "developer_name", "configuration", "user_verification", "api"],
    vendorDomains: ["salesforce-scrt.com"])
  public var methods: [any SDKMethod.Type] {
    [
      MessagingInAppSetIdentityToken.self, MessagingInAppSetPassthrough.self, MessagingInAppRevokeToken.self,
      MessagingInAppClearStorage.self, MessagingInAppSetHiddenPreChat.self, MessagingInAppGetContinuationToken.self,
      MessagingInAppSetLastEventId.self, MessagingInAppDeregisterDevice.self,
    ]
  }

  public func register(in router: inout CallRouter, registry: InstanceRegistry) {
    registerLogins(in: &router, registry: registry)
    registerRest(in: &router, registry: registry)
  }

  private func registerLogins(in router: inout CallRouter, registry: InstanceRegistry) {
    router.register(on: registry, MessagingInAppSetIdentityToken.self) { params, instance, context in
      try await instance.signIn(accepted: context.accepted) { (adapter: MessagingInAppAdapter, identity, isUsable) in
        try adapter.checkMaySignIn()
        let checked = try instance.wallClock.checking { try adapter.check(params.identityToken, now: $0) }
        let known = MessagingInAppState(identity.kindState).identityDigest
        return isUsable && known == TokenID(checked.credential.token).description ? nil : checked
      }.user
    }
    router.register(on: registry, MessagingInAppSetPassthrough.self) { params, instance, context in
      let lastEventId = try params.lastEventId.map { try MessagingInAppState.checked(lastEventId: $0) }
      return try await instance.signIn(accepted: context.accepted) {
        (adapter: MessagingInAppAdapter, identity, isUsable) in
        try adapter.checkMaySignIn()
        let checked = try instance.wallClock.checking {
          try adapter.check(passthrough: params.accessToken, lastEventId: lastEventId, now: $0)
        }
        return isUsable && checked.credential.token == identity.credential?.token ? nil : checked
      }.user
    }
    router.register(on: registry, MessagingInAppRevokeToken.self) { params, instance, context in
      // Part of the identity, since the request, or the delivery in its place, may come after a restart.
      let note = params.deregisterDevice == false ? Secret("true") : nil
      let present = try await instance.state(as: MessagingInAppAdapter.self).identity
      if present.user != .none, present.kindState[MessagingInAppState.keepsDeviceKey] != note {
        try await instance.amend { $0[MessagingInAppState.keepsDeviceKey] = note }
      }
      let informed = try await instance.signOut(localOnly: params.localOnly ?? false, accepted: context.accepted)
      return .init(backendInformed: informed)
    }
  }

  private func registerRest(in router: inout CallRouter, registry: InstanceRegistry) {
    router.register(on: registry, MessagingInAppClearStorage.self) { params, instance, context in
      guard params.clearAuthorization ?? true else {
        return .init(storageEpoch: try await instance.clearStorage { $0 = MessagingInAppState($0).cleared.kindState })
      }
      _ = try await instance.signOut(localOnly: true, accepted: context.accepted)
      return .init(storageEpoch: await instance.presentStorageEpoch)
    }
    router.register(on: registry, MessagingInAppDeregisterDevice.self) { _, instance, _ in
      let known = try await instance.pushRecords().filter { !$0.orphaned }
      for push in known { try await instance.unregisterPush(push.id) }
      return .init(removed: !known.isEmpty)
    }
    router.register(on: registry, MessagingInAppSetHiddenPreChat.self) { params, instance, context in
      let fields = try MessagingInAppState.checked(preChat: params.fields)
      try await instance.amend(accepted: context.accepted) { kindState in
        kindState[MessagingInAppState.preChatKey] = fields
      }
      return Empty()
    }
    router.register(on: registry, MessagingInAppSetLastEventId.self) { params, instance, context in
      let lastEventId = try MessagingInAppState.checked(lastEventId: params.lastEventId)
      try await instance.amend(
        requiringUser: .notAuthenticated, storageEpoch: params.storageEpoch, accepted: context.accepted
      ) { kindState in
        var state = MessagingInAppState(kindState)
        state.note(lastEventId: lastEventId)
        kindState = state.kindState
      }
      return Empty()
    }
    router.register(on: registry, MessagingInAppGetContinuationToken.self) { _, instance, _ in
      let adapter = try await instance.state(as: MessagingInAppAdapter.self).adapter
      _ = try await instance.token(.any, of: nil, timeout: nil)
      try adapter.countContinuation()
      return try await instance.replaying { identity, _ throws(SDKError) in
        try await adapter.continuation(of: identity)
      }.value
    }
  }

  public func makeAdapter(settings: JSONObject, services: AdapterServices) throws -> any SDKAdapter {
    MessagingInAppAdapter(
      settings: try Settings.decode(MessagingInAppSettings.self, from: settings, at: "settings"), services: services,
      budget: budget)
  }
}
