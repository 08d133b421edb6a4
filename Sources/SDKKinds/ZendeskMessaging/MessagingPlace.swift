import JSONRPC
import SDKInstances
import SDKProtocol

/// Where the vendor is and which app it is: from the settings, or as the vendor's settings URL said.
struct MessagingPlace: Sendable, Hashable {
  let baseURL: String
  let appId: String
  let isMulti: Bool
  let integrationId: String?
  let isFetched: Bool

  private enum Key {
    static let base = "base_url"
    static let app = "app_id"
    static let multi = "multi"
    static let integration = "integration_id"
  }

  /// What of an identity says where the vendor is: it outlives the user.
  static let keys: Set<String> = [Key.base, Key.app, Key.multi, Key.integration]
  static let realtimeKey = "realtime_url"

  /// The place if it is known without asking.
  init?(settings: MessagingSettings, identity: IdentityRecord) {
    let known = identity.kindState
    if let baseURL = settings.baseURL, let appId = settings.appId {
      self.baseURL = baseURL
      self.appId = appId
      isMulti = settings.conversationMode == .multi
      integrationId = settings.integrationId
      isFetched = false
    } else if let baseURL = known[Key.base], let appId = known[Key.app] {
      self.baseURL = baseURL.reveal()
      self.appId = appId.reveal()
      isMulti = known[Key.multi] != nil
      integrationId = settings.integrationId ?? known[Key.integration]?.reveal()
      isFetched = true
    } else {
      return nil
    }
  }

  /// The place that the vendor's settings say (`vendors.md` 1.2, first row).
  init?(_ json: JSON, settings: MessagingSettings) {
    let config = json["sunco_config"] ?? json["config"]
    let app = config?["app"]
    let url = config?["baseURL"] ?? config?["baseUrl"]
    guard var base = settings.baseURL ?? url?["ios"]?.stringValue ?? url?.stringValue,
      let appId = settings.appId ?? (app?["id"] ?? app?["_id"])?.stringValue, TextLimits.isID(appId)
    else { return nil }
    while base.hasSuffix("/") { base.removeLast() }
    baseURL = base
    self.appId = appId
    isMulti = app?["settings"]?["multiConvoEnabled"]?.boolValue ?? false
    let integration = config?["integration"]
    integrationId = settings.integrationId ?? (integration?["id"] ?? integration?["_id"])?.stringValue
    guard integrationId.map(TextLimits.isID) ?? true else { return nil }
    isFetched = true
  }

  /// What is kept so that it need not be asked again.
  func kindState(realtime: String?) -> [String: Secret] {
    var state: [String: Secret] = [:]
    if isFetched {
      state[Key.base] = Secret(baseURL)
      state[Key.app] = Secret(appId)
      if isMulti { state[Key.multi] = Secret("true") }
      state[Key.integration] = integrationId.map { Secret($0) }
    }
    state[Self.realtimeKey] = realtime.map { Secret($0) }
    return state
  }
}
