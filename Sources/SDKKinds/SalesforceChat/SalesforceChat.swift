public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// The Salesforce Service Chat SDK.
public struct SalesforceChat: SDKKind {
  /// Creates the kind.
  public init() {}

  public var name: KindName { .salesforceChat }
  public var summary: String { "The Salesforce Service Chat SDK." }
  public let settings = KindSettings(
    schema: SalesforceSettings.jsonSchema, secrets: ["client_secret"], adminOnly: ["client_secret_file"],
    urls: ["login_url"],
    backend: ["client_id"], vendorDomains: ["salesforce.com", "force.com", "my.site.com", "salesforce-sites.com"],
    faults: { settings in
      let secret = ["client_secret", "client_secret_file"].first { settings[$0].map { !$0.isNull } ?? false }
      guard let secret, settings["login_url"].map(\.isNull) ?? true else { return [] }
      return [
        .init("login_url", "is missing: \(secret) is sent nowhere else. Set it to \(SalesforceWire.loginExamples).")
      ]
    })
  public var methods: [any SDKMethod.Type] {
    [
      ServiceChatSetAuthenticationSettings.self, ServiceChatGetAuthenticationSettings.self,
      ServiceChatRegisterForPushNotifications.self,
    ]
  }

  public func register(in router: inout CallRouter, registry: InstanceRegistry) {
    router.register(on: registry, ServiceChatSetAuthenticationSettings.self) { params, instance, context in
      guard let given = params.settings else {
        _ = try await instance.signOut(
          service: params.service, localOnly: true, telling: [.settingsUpdated], accepted: context.accepted)
        return Empty()
      }
      _ = try await instance.signIn(service: params.service, accepted: context.accepted) {
        (adapter: SalesforceAdapter, identity, _) in
        let settings = try AuthenticationSettings(given.members)
        for (member, url) in settings.urls {
          try registry.checkSupplied(url, what: member, on: instance, by: context.peer)
        }
        return adapter.check(settings, for: identity, now: instance.wallClock.now())
      }
      return Empty()
    }
    router.register(on: registry, ServiceChatGetAuthenticationSettings.self) { params, instance, _ in
      let (adapter, identity) = try await instance.state(of: params.service, as: SalesforceAdapter.self)
      guard let account = SalesforceAccount(identity.kindState) else { return .init(settings: nil) }
      return .init(
        settings: .init(
          instanceUrl: account.instanceURL, clientId: account.clientId ?? adapter.settings.clientId,
          hasRefreshToken: account.refreshToken != nil))
    }
    router.register(on: registry, ServiceChatRegisterForPushNotifications.self) { params, instance, _ in
      PushRegister.Result(id: try await instance.registerPush(service: params.service, params.endpoint))
    }
  }

  public func makeAdapter(settings: JSONObject, services: AdapterServices) throws -> any SDKAdapter {
    SalesforceAdapter(
      settings: try Settings.decode(SalesforceSettings.self, from: settings, at: "settings"), services: services)
  }
}
