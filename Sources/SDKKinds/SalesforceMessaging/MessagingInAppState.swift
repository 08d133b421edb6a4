import JSONRPC
import SDKProtocol

/// What an identity of this kind keeps beside user and access token.
struct MessagingInAppState {
  /// The identity JWT that the access token was exchanged for; `nil` if it is not kept, or was refused.
  var identityToken: Secret?
  /// The digest of that JWT, by which the same one is recognized.
  var identityDigest: String?
  /// The issuer of that JWT.
  var issuer: String?
  /// The refresh token of a guest, which is valid for one renewal; v1 only.
  var refreshToken: Secret?
  /// Whether the device's push registration stays at the vendor when the user is logged out.
  var keepsDevice = false
  /// The id of the last event that the app has: digits.
  var lastEventId: String?
  /// The vendor's id of this client, from the access token.
  var clientId: String?
  /// The hidden pre-chat fields as JSON.
  var preChat: Secret?

  private enum Name {
    static let identityToken = "identity_token"
    static let identityDigest = "identity_digest"
    static let issuer = "issuer"
    static let refreshToken = "refresh_token"
    static let lastEventId = "last_event_id"
    static let clientId = "client_id"
  }

  static let preChatKey = "pre_chat"
  static let keepsDeviceKey = "keeps_device"
  /// The maximum number of hidden pre-chat fields.
  static let mostFields = 64
  /// The maximum size of the hidden pre-chat fields as JSON, in bytes.
  static let mostFieldBytes = 32 * 1024

  init(_ kindState: [String: Secret]) {
    identityToken = kindState[Name.identityToken]
    identityDigest = kindState[Name.identityDigest]?.reveal()
    issuer = kindState[Name.issuer]?.reveal()
    refreshToken = kindState[Name.refreshToken]
    keepsDevice = kindState[Self.keepsDeviceKey] != nil
    lastEventId = kindState[Name.lastEventId]?.reveal()
    clientId = kindState[Name.clientId]?.reveal()
    preChat = kindState[Self.preChatKey]
  }

  var kindState: [String: Secret] {
    var state: [String: Secret] = [:]
    state[Name.identityToken] = identityToken
    state[Name.identityDigest] = identityDigest.map { Secret($0) }
    state[Name.issuer] = issuer.map { Secret($0) }
    state[Name.refreshToken] = refreshToken
    state[Self.keepsDeviceKey] = keepsDevice ? Secret("true") : nil
    state[Name.lastEventId] = lastEventId.map { Secret($0) }
    state[Name.clientId] = clientId.map { Secret($0) }
    state[Self.preChatKey] = preChat
    return state
  }

  /// The state without what apps have set.
  var cleared: MessagingInAppState {
    var state = self
    state.lastEventId = nil
    state.preChat = nil
    return state
  }

  /// The hidden pre-chat fields; `nil` without any.
  var preChatFields: [String: String]? {
    guard let preChat, let object = try? JSONParser.parse(preChat.reveal()).objectValue else { return nil }
    let fields = object.members.compactMap { member in member.value.stringValue.map { (member.key, $0) } }
    return fields.isEmpty ? nil : Dictionary(fields) { $1 }
  }

  /// Keeps the id of an event, unless a later one is kept already.
  mutating func note(lastEventId next: String?) {
    guard let next = next.flatMap(Self.digits) else { return }
    if let lastEventId, (lastEventId.utf8.count, lastEventId) >= (next.utf8.count, next) { return }
    lastEventId = next
  }

  /// Returns the id of an event without leading zeros; `nil` for a text that is none.
  static func digits(_ text: String) -> String? {
    guard (1...20).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    let short = text.drop { $0 == "0" }
    return short.isEmpty ? "0" : String(short)
  }

  /// Checks the id of an event in the params of a call.
  ///
  /// - Throws: `invalidParams` for a text that is none.
  static func checked(lastEventId: String) throws(RPCError) -> String {
    if let id = digits(lastEventId) { return id }
    throw .invalidParams("The member lastEventId must have 1 to 20 digits.", member: "lastEventId")
  }

  /// Checks hidden pre-chat fields and returns them as JSON; `nil` for none.
  ///
  /// - Throws: `invalidAuthParameters` for too many, or too long ones.
  static func checked(preChat fields: [String: String]?) throws(SDKError) -> Secret? {
    guard let fields, !fields.isEmpty else { return nil }
    let json = JSONWriter.text(
      of: .object(JSONObject(fields.sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value)) })))
    guard fields.count <= mostFields, json.utf8.count <= mostFieldBytes, fields[""] == nil else {
      throw SDKError(
        .local, .invalidAuthParameters,
        "There can be at most \(mostFields) fields with names, of \(mostFieldBytes) bytes in all; give fewer.",
        member: "fields")
    }
    return Secret(json)
  }
}
