import JSONRPC
import SDKInstances
import SDKProtocol

/// The state that an identity of Chat Center stores.
struct EdnaState: Sendable, Hashable {
  /// A change of the user's name or attributes, which is sent when a chat opens next (`rows.md`, E9).
  struct Pending: Sendable, Hashable {
    /// The attributes to send; `nil` when only the name has changed.
    var data: [String: String]?
  }

  static let pendingKey = "pending"
  static let prefillKey = "prefill"
  static let dataKey = "data"
  static let historyKey = "history_due"

  /// The stored values by key.
  var values: [String: Secret]

  init(_ values: [String: Secret] = [:]) { self.values = values }

  /// The client id in requests: the user's identifier, or its ciphertext. The ciphertext is stored, because RSA with
  /// random padding gives another one each time.
  var clientId: String {
    get { values["client_id"]?.reveal() ?? "" }
    set { values["client_id"] = Secret(newValue) }
  }

  /// The `EdnaCipher.name` of the key that encrypted `clientId`; `nil` when we have not encrypted it.
  var cipher: String? {
    get { values["cipher"]?.reveal() }
    set { values["cipher"] = newValue.map { Secret($0) } }
  }

  /// Whether requests declare the client id as encrypted.
  var isEncrypted: Bool { cipher != nil || auth.isEncrypted }

  /// The secrets that requests send: the proof, and the identifier or its ciphertext.
  var secrets: [Secret] {
    [auth.token, auth.signature, Secret(clientId), deviceAddress.map { Secret($0) }].compactMap { $0 }
      .filter { !$0.isEmpty }
  }

  /// The address that the vendor gave this device; `nil` before the first registration.
  var deviceAddress: String? {
    get { values["device_address"]?.reveal() }
    set { values["device_address"] = newValue.map { Secret($0) } }
  }

  /// The proof of identity that requests use.
  var auth: EdnaAuth {
    get { EdnaAuth(stored: values["auth"]) }
    set { values["auth"] = newValue.stored }
  }

  /// The proof of identity that the last `chatCenter.authorize` gave. Another `authorize` with the same proof changes
  /// nothing, even if the bridge has supplied a newer one.
  var given: EdnaAuth {
    get { EdnaAuth(stored: values["given"]) }
    set { values["given"] = newValue.stored }
  }

  /// The seconds between pings; `nil` when the vendor wants none or has not said.
  var pingInterval: Double? {
    get { values["ping"].flatMap { Double($0.reveal()) } }
    set { values["ping"] = newValue.map { Secret(String($0)) } }
  }

  /// Whether the history could not be read after the login, and is read when a chat opens next.
  var isHistoryDue: Bool {
    get { values[Self.historyKey] != nil }
    set { values[Self.historyKey] = newValue ? Secret("true") : nil }
  }

  /// The user's attributes as last sent to the vendor; `nil` when none were given.
  var data: [String: String]? {
    get { Self.attributes(values[Self.dataKey]) }
    set { values[Self.dataKey] = newValue.map(Self.stored) }
  }

  /// The change that is still to be sent to the vendor; `nil` for none.
  var pending: Pending? {
    get {
      guard let stored = values[Self.pendingKey] else { return nil }
      return Pending(data: Self.attributes(stored))
    }
    set {
      values[Self.pendingKey] = newValue.map { $0.data.map(Self.stored) ?? Secret("null") }
    }
  }

  /// The latest attributes: the pending ones, or else those that the vendor has; `nil` for none.
  var latestData: [String: String]? { pending?.data ?? data }

  /// Stores attributes to be sent when a chat opens next. Does nothing if the vendor has them already and no change is
  /// pending.
  mutating func update(_ data: [String: String]) {
    guard pending != nil || !data.hasSameBytes(as: self.data ?? [:]) else { return }
    pending = Pending(data: data)
  }

  /// Records that the name has changed, so that it is sent when a chat opens next.
  mutating func noteName() { if pending == nil { pending = Pending(data: nil) } }

  /// The text for the chat's input field, which `chatCenter.prefill` sets and which is issued once; `nil` for none.
  var prefill: String? {
    get { values[Self.prefillKey]?.reveal() }
    set { values[Self.prefillKey] = newValue.map { Secret($0) } }
  }

  /// The values that a logout at the vendor needs, without the user's attributes and the prefill.
  var farewell: [String: Secret] {
    values.filter { ["client_id", "cipher", "device_address", "auth"].contains($0.key) }
  }

  static func stored(_ data: [String: String]) -> Secret {
    Secret(JSONWriter.text(of: attributes(data)))
  }

  /// Returns attributes as JSON, sorted by name.
  static func attributes(_ data: [String: String]) -> JSON {
    .object(JSONObject(data.sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value)) }))
  }

  private static func attributes(_ stored: Secret?) -> [String: String]? {
    let json = stored.flatMap { try? JSONParser.parse($0.reveal(), .ownText) }
    guard case .object(let object)? = json else { return nil }
    return object.members.reduce(into: [:]) { $0[$1.key] = $1.value.stringValue }
  }
}

/// The proof of identity and the attributes in an `authorize` call or a response of the bridge. They are passed on in
/// the details of a `CheckedCredential`.
struct EdnaOffer {
  var auth: EdnaAuth
  /// The user's attributes; `nil` to leave them as they are.
  var data: [String: String]?
}

extension EdnaOffer {
  /// Creates the offer that `checked` stored in the details of a credential.
  init(_ credential: CheckedCredential) {
    auth = EdnaAuth(stored: credential.details["auth"])
    data = credential.details["data"].flatMap { EdnaState([EdnaState.dataKey: $0]).data }
  }

  /// Returns the offer as a credential, which expires at `expiresAt` or with its token, whichever is earlier.
  func checked(
    identifier: Secret? = nil, name: String? = nil, hints: [String] = [], expiresAt: Timestamp? = nil, now: Timestamp
  ) -> CheckedCredential {
    var details = ["auth": auth.stored]
    if let data { details["data"] = EdnaState.stored(data) }
    let end = [expiresAt, auth.end].compactMap { $0 }.min()
    return CheckedCredential(
      credential: Credential(token: auth.token ?? Secret(""), type: .custom, obtainedAt: now, expiresAt: end),
      externalId: identifier?.reveal(), name: name, hints: hints, details: details)
  }
}
