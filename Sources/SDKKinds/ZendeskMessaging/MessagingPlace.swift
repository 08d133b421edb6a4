import JSONRPC
import SDKInstances
import SDKProtocol

/// Where the vendor is and which app it is: from the settings, or as the vendor's settings URL said.
struct MessagingPlace: Sendable, Hashable {
  let baseURL: String
  let appId: String
  let isMulti: Bool
  let isFetched: Bool

  static let keys: Set<String> = ["base_url", "app_id", "multi"]
  static let realtimeKey = "realtime_url"

  init(baseURL: String, appId: String, isMulti: Bool, isFetched: Bool) {
    self.baseURL = baseURL
    self.appId = appId
    self.isMulti = isMulti
    self.isFetched = isFetched
  }

  /// The place if it is known without asking.
  init?(settings: MessagingSettings, identity: IdentityRecord) {
    if let baseURL = settings.baseURL, let appId = settings.appId {
      self.init(baseURL: baseURL, appId: appId, isMulti: settings.conversationMode == .multi, isFetched: false)
    } else if let baseURL = identity.kindState["base_url"], let appId = identity.kindState["app_id"] {
      self.init(
        baseURL: baseURL.reveal(), appId: appId.reveal(), isMulti: identity.kindState["multi"] != nil, isFetched: true)
    } else {
      return nil
    }
  }

  /// The place that the vendor's settings say (`vendors.md` 1.2, first row).
  init?(_ json: JSON, settings: MessagingSettings) {
    let config = json["sunco_config"] ?? json["config"]
    let app = config?["app"]
    let url = settings.baseURL ?? config?["baseURL"]?["ios"]?.stringValue ?? config?["baseUrl"]?["ios"]?.stringValue
    guard var base = url, let appId = settings.appId ?? (app?["id"] ?? app?["_id"])?.stringValue else { return nil }
    while base.hasSuffix("/") { base.removeLast() }
    self.init(
      baseURL: base, appId: appId, isMulti: app?["settings"]?["multiConvoEnabled"]?.boolValue ?? false, isFetched: true)
  }

  /// What is kept so that it need not be asked again.
  func kindState(realtime: String?) -> [String: Secret] {
    var state: [String: Secret] = [:]
    if isFetched {
      state["base_url"] = Secret(baseURL)
      state["app_id"] = Secret(appId)
      if isMulti { state["multi"] = Secret("true") }
    }
    state[Self.realtimeKey] = realtime.map(Secret.init)
    return state
  }
}
