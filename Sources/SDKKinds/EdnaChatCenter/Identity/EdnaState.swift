import JSONRPC
import SDKProtocol

/// What an identity of Chat Center keeps.
struct EdnaState: Sendable, Hashable {
  /// What the user's attributes are to become with the next chat that opens (`sdks.md`, E9).
  struct Pending: Sendable, Hashable {
    /// The data; `nil` when only the name has changed.
    var data: [String: String]?
  }

  static let pendingKey = "pending"
  static let prefillKey = "prefill"
  static let dataKey = "data"

  /// As the identity has it.
  var values: [String: Secret]

  init(_ values: [String: Secret] = [:]) { self.values = values }

  /// The identifier as it goes on the wire: RSA is random, so it is encrypted once and kept.
  var clientId: String {
    get { values["client_id"]?.reveal() ?? "" }
    set { values["client_id"] = Secret(newValue) }
  }

  /// The key that it is encrypted with; `nil` when we have not encrypted it.
  var cipher: String? {
    get { values["cipher"]?.reveal() }
    set { values["cipher"] = newValue.map { Secret($0) } }
  }

  /// Whether the vendor is told that the client id is encrypted.
  var isEncrypted: Bool { cipher != nil || auth.isEncrypted }

  /// The address that the vendor gave this device.
  var deviceAddress: String? {
    get { values["device_address"]?.reveal() }
    set { values["device_address"] = newValue.map { Secret($0) } }
  }

  /// What proves the user now.
  var auth: EdnaAuth {
    get { EdnaAuth(stored: values["auth"]) }
    set { values["auth"] = newValue.stored }
  }

  /// What the last `authorize` brought: the same again is no change, whatever the bridge has supplied since.
  var given: EdnaAuth {
    get { EdnaAuth(stored: values["given"]) }
    set { values["given"] = newValue.stored }
  }

  /// Seconds between pings; `nil` when the vendor wants none or has not said.
  var pingInterval: Double? {
    get { values["ping"].flatMap { Double($0.reveal()) } }
    set { values["ping"] = newValue.map { Secret(String($0)) } }
  }

  /// The user's attributes as the vendor has them.
  var data: [String: String]? {
    get { Self.attributes(values[Self.dataKey]) }
    set { values[Self.dataKey] = newValue.map(Self.stored) }
  }

  /// What the vendor has not been told yet.
  var pending: Pending? {
    get {
      guard let stored = values[Self.pendingKey] else { return nil }
      return Pending(data: Self.attributes(stored))
    }
    set {
      values[Self.pendingKey] = newValue.map { $0.data.map(Self.stored) ?? Secret("null") }
    }
  }

  /// The attributes as the app means them.
  var latestData: [String: String]? { pending?.data ?? data }

  /// The attributes are to become these with the next chat that opens.
  mutating func update(_ data: [String: String]) {
    guard pending != nil || data != self.data ?? [:] else { return }
    pending = Pending(data: data)
  }

  /// The name has changed, which goes the way of the attributes.
  mutating func noteName() { if pending == nil { pending = Pending(data: nil) } }

  /// A text for the input field, given once.
  var prefill: String? {
    get { values[Self.prefillKey]?.reveal() }
    set { values[Self.prefillKey] = newValue.map { Secret($0) } }
  }

  /// What ends the session at the vendor, without what the chat shows.
  var farewell: [String: Secret] {
    values.filter { ["client_id", "cipher", "device_address", "auth"].contains($0.key) }
  }

  static func stored(_ data: [String: String]) -> Secret {
    Secret(JSONWriter.text(of: EdnaFrame.attributes(data)))
  }

  private static func attributes(_ stored: Secret?) -> [String: String]? {
    let json = stored.flatMap { try? JSONParser.parse($0.reveal().utf8, maximumMarks: .max) }
    guard case .object(let object)? = json else { return nil }
    return object.members.reduce(into: [:]) { $0[$1.key] = $1.value.stringValue }
  }
}
