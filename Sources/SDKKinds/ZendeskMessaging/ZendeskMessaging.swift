public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// The Zendesk Messaging SDK.
public struct ZendeskMessaging: SDKKind {
  /// Creates the kind.
  public init() {}

  public var name: KindName { .zendeskMessaging }
  public var summary: String { "The Zendesk Messaging SDK." }
  public let settings = KindSettings(
    schema: MessagingSettings.jsonSchema, urls: ["base_url", "settings_url", "realtime_url"],
    bases: ["base_url"],
    hiddenURLs: { hiddenURLs(in: $0) },
    backend: ["base_url", "app_id", "channel_key", "settings_url"], vendorDomains: ["zendesk.com", "smooch.io"])
  public var methods: [any SDKMethod.Type] {
    [MessagingLoginUser.self, MessagingLogoutUser.self, MessagingGetCurrentUser.self]
  }

  static func hiddenURLs(in settings: JSONObject) -> [String: String] {
    guard let key = settings["channel_key"]?.stringValue,
      let url = try? MessagingSettings.settingsURL(ofChannelKey: key)
    else { return [:] }
    return ["channel_key": url]
  }

  public func register(in router: inout CallRouter, registry: InstanceRegistry) {
    router.register(on: registry, MessagingLoginUser.self) { params, instance, context in
      try await instance.signIn(accepted: context.accepted) { (adapter: MessagingAdapter, identity, isUsable) in
        let checked = try instance.wallClock.checking { try adapter.check(params.jwt, now: $0) }
        return isUsable && checked.credential.token == identity.credential?.token ? nil : checked
      }.user
    }
    router.register(on: registry, MessagingLogoutUser.self) { params, instance, context in
      let informed = try await instance.signOut(localOnly: params.localOnly ?? false, accepted: context.accepted)
      return .init(backendInformed: informed)
    }
    router.register(on: registry, MessagingGetCurrentUser.self) { _, instance, _ in instance.user }
  }

  public func makeAdapter(settings: JSONObject, services: AdapterServices) throws -> any SDKAdapter {
    MessagingAdapter(
      settings: try Settings.decode(MessagingSettings.self, from: settings, at: "settings"), services: services)
  }
}
