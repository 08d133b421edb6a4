public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// The Zendesk Chat SDK.
public struct ZendeskChat: SDKKind {
  /// Creates the kind.
  public init() {}

  public var name: KindName { .zendeskChat }
  public var summary: String { "The Zendesk Chat SDK." }
  public let settings = KindSettings(
    schema: ChatSettings.jsonSchema, urls: ["id_url", "mediator_url"], bases: ["id_url"],
    backend: ["account_key", "app_id", "id_url"], vendorDomains: ["zopim.com", "zendesk.com"])
  public var methods: [any SDKMethod.Type] { [ChatSetIdentity.self, ChatResetIdentity.self] }

  public func register(in router: inout CallRouter, registry: InstanceRegistry) {
    router.register(on: registry, ChatSetIdentity.self) { params, instance, context in
      _ = try await instance.signIn(accepted: context.accepted) { (adapter: ChatAdapter, identity, _) in
        try instance.wallClock.checking { try adapter.check(params.jwt, for: identity, now: $0) }
      }
      return Empty()
    }
    router.register(on: registry, ChatResetIdentity.self) { _, instance, context in
      _ = try await instance.signOut(localOnly: true, accepted: context.accepted)
      return Empty()
    }
  }

  public func makeAdapter(settings: JSONObject, services: AdapterServices) throws -> any SDKAdapter {
    ChatAdapter(settings: try Settings.decode(ChatSettings.self, from: settings, at: "settings"), services: services)
  }
}
