import JSONRPC
import SDKInstances
import SDKProtocol

/// The vendor's base URL and the app, from the settings or from the response of the vendor's settings URL.
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

  /// The keys of an identity's values that describe the vendor. These values outlive the user.
  static let keys: Set<String> = [Key.base, Key.app, Key.multi, Key.integration]
  static let realtimeKey = "realtime_url"

  /// Creates the place without a request; `nil` when it is not known yet.
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

  /// Reads the place from the vendor's settings; `nil` when they are incomplete or
  /// invalid.
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

  /// Whether this is another app, or the app at another base URL, where the vendor may not know the same users.
  func isElsewhere(than other: MessagingPlace) -> Bool { baseURL != other.baseURL || appId != other.appId }

  /// Returns the values to store, so that they need not be requested again.
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
