public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// The edna Chat Center SDK.
public struct EdnaChatCenter: SDKKind {
  /// Creates the kind.
  public init() {}

  public var name: KindName { .ednaChatCenter }
  public var summary: String { "The edna Chat Center SDK." }
  public let settings = KindSettings(
    schema: EdnaSettings.jsonSchema, urls: ["rest_url", "ws_url"], bases: ["rest_url"],
    backend: ["rest_url"], vendorDomains: ["edna.io", "edna.ru"])
  public var concealsExternalId: Bool { true }
  public var methods: [any SDKMethod.Type] {
    [
      ChatCenterAuthorize.self, ChatCenterLogout.self, ChatCenterDeauthorizeUser.self, ChatCenterUpdateData.self,
      ChatCenterPrefill.self, ChatCenterGetChat.self,
    ]
  }

  public func register(in router: inout CallRouter, registry: InstanceRegistry) {
    router.register(on: registry, ChatCenterAuthorize.self) { params, instance, context in
      try await EdnaAuthorization(params).run(on: instance, context)
    }
    router.register(on: registry, ChatCenterLogout.self) { params, instance, context in
      let operation = EdnaAuthorization.newOperation()
      let outcome = try await instance.signOut(
        operation: operation, requiringUser: .userNotAuthorized, accepted: context.accepted)
      if params.wait == true { try await outcome(params.timeout?.value) }
      return .init(operation: operation)
    }
    router.register(on: registry, ChatCenterDeauthorizeUser.self) { _, instance, _ in
      _ = try await instance.signOut(localOnly: true, as: .deauthorized, accepted: {})
      // A prefill that was set without a user is removed too.
      try await instance.amend { $0[EdnaState.prefillKey] = nil }
      return Empty()
    }
    router.register(on: registry, ChatCenterUpdateData.self) { params, instance, context in
      let data = params.data ?? [:]
      try EdnaChatUser.check(data, member: "data")
      try await instance.amend(requiringUser: .userNotAuthorized, accepted: context.accepted) { values in
        var state = EdnaState(values)
        state.update(data)
        values = state.values
      }
      return Empty()
    }
    router.register(on: registry, ChatCenterPrefill.self) { params, instance, context in
      let message = try params.checkedMessage
      try await instance.amend(accepted: context.accepted) { $0[EdnaState.prefillKey] = message }
      return Empty()
    }
    router.register(on: registry, ChatCenterGetChat.self) { _, instance, _ in
      try await instance.openSession(.any)
    }
  }

  public func makeAdapter(settings: JSONObject, services: AdapterServices) throws -> any SDKAdapter {
    EdnaAdapter(
      settings: try Settings.decode(EdnaSettings.self, from: settings, at: "settings"), services: services)
  }
}
