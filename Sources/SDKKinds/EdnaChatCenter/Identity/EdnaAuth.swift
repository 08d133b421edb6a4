import JSONRPC
import SDKProtocol

/// The user's proof of identity for the installation: the SDK's `ChatAuth`. Empty strings count as absent.
struct EdnaAuth: RPCValue, Hashable {
  /// The way in which token and scheme are sent: as headers or as cookies.
  enum Method: String, Codable, DescribedEnumeration {
    case headers, cookies

    static let jsonSchema = schema(named: "ChatAuthMethod")
    var meaning: String {
      switch self {
      case .headers: "As headers of the request."
      case .cookies: "As cookies of the request."
      }
    }
  }

  var token: Secret?
  var scheme: Secret?
  var method: Method
  var signature: Secret?
  var isEncrypted: Bool

  static let jsonSchema = JSONSchema.named(
    "ChatAuth",
    .object([
      .optional("token", .secret, "the authorization token: a secret"),
      .optional("scheme", .string(), "the authorization scheme"),
      .optional(
        "method", Method.jsonSchema, "the way in which token and scheme travel; headers unless given"),
      .optional("signature", .secret, "the signature: a secret"),
      .optional("isEncrypted", .boolean, "whether the app has encrypted the identifier"),
    ]))

  /// Creates a proof without token, scheme and signature.
  init() {
    method = .headers
    isEncrypted = false
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    token = Self.text(try container.decodeIfPresent(Secret.self, forKey: .token))
    scheme = Self.text(try container.decodeIfPresent(Secret.self, forKey: .scheme))
    method = try container.decodeIfPresent(Method.self, forKey: .method) ?? .headers
    signature = Self.text(try container.decodeIfPresent(Secret.self, forKey: .signature))
    isEncrypted = try container.decodeIfPresent(Bool.self, forKey: .isEncrypted) ?? false
  }

  /// The JSON that an identity stores.
  var stored: Secret { Secret((try? JSONValueEncoder.encode(self)).map(JSONWriter.text(of:)) ?? "{}") }

  /// Reads the JSON that an identity stored; anything else gives an empty proof. Combining marks are not limited: a
  /// provider's plain text may have more of them than a message.
  init(stored: Secret?) {
    let json = stored.flatMap { try? JSONParser.parse($0.reveal(), .ownText) }
    self = json.flatMap { try? JSONValueDecoder.decode(EdnaAuth.self, from: $0) } ?? EdnaAuth()
  }

  /// Returns this proof updated with a response of the bridge. Members that the response leaves out stay.
  ///
  /// - Throws: `providerOutputInvalid` for a response without token and signature, with a value that can't be sent, or
  ///   with an expired JWT.
  func answered(_ members: JSONObject, now: Timestamp) throws(SDKError) -> EdnaAuth {
    func given(_ name: String) -> Secret? { members[name]?.stringValue.map { Secret($0) } }
    do throws(SDKError) {
      try OpaqueText.check(
        (given("token"), "token", "token"), (given("scheme"), "scheme", "scheme"),
        (given("signature"), "signature", "signature"), mayHaveScheme: true)
    } catch {
      throw SDKError(.provider, .providerOutputInvalid, "The token provider gave no credential. \(error.message)")
    }
    var next = self
    if let token = members["token"]?.stringValue { next.token = Self.text(Secret(token)) }
    if let scheme = members["scheme"]?.stringValue { next.scheme = Self.text(Secret(scheme)) }
    if let signature = members["signature"]?.stringValue { next.signature = Self.text(Secret(signature)) }
    if let isEncrypted = members["isEncrypted"]?.boolValue { next.isEncrypted = isEncrypted }
    guard members["token"]?.stringValue != nil || members["signature"]?.stringValue != nil else {
      throw SDKError(
        .provider, .providerOutputInvalid, "The token provider's answer has neither token nor signature; give one.")
    }
    do throws(SDKError) {
      try next.check()
    } catch {
      throw SDKError(
        .provider, .providerOutputInvalid, "The token provider gave what can't be sent. \(error.message)")
    }
    if next.hasExpired(at: now) {
      throw SDKError(.provider, .providerOutputInvalid, "The token provider gave a JWT that has expired.")
    }
    return next
  }

  /// The expiry of the token, if it is a JWT that has one; `nil` otherwise.
  var end: Timestamp? { token.flatMap(JWTEnd.of) }

  /// Whether the token is a JWT that has expired.
  func hasExpired(at now: Timestamp) -> Bool { end.map { $0 <= now } ?? false }

  /// Checks the values that a caller gives.
  ///
  /// - Throws: `invalidAuthParameters` with the member at fault.
  func checkGiven() throws(SDKError) {
    try OpaqueText.check(
      (token, "token", "auth.token"), (scheme, "scheme", "auth.scheme"), (signature, "signature", "auth.signature"),
      mayHaveScheme: true)
    try check()
  }

  /// Checks that the values can be sent in headers or cookies, as the vendor's SDKs send them: in ASCII, except a
  /// signature that is percent-encoded.
  ///
  /// - Throws: `invalidAuthParameters` with the member at fault.
  func check() throws(SDKError) {
    for (value, name, limit) in [(token, "token", 8192), (scheme, "scheme", 256), (signature, "signature", 8192)] {
      guard let bytes = value?.reveal().utf8 else { continue }
      guard bytes.count <= limit, bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
        throw SDKError(
          .local, .invalidAuthParameters,
          "The \(name) must have at most \(limit) bytes and no line breaks or other control characters.",
          member: "auth.\(name)")
      }
      let isEncoded = name == "signature" && !isEncrypted
      guard isEncoded || bytes.allSatisfy({ $0 < 0x80 }) else {
        throw SDKError(
          .local, .invalidAuthParameters,
          "The \(name) must be ASCII: it is sent in a header, and the vendor's SDKs send no other there.",
          member: "auth.\(name)", hints: ["auth.\(name): encode it as the installation's backend expects it"])
      }
      if method == .cookies, name != "signature", bytes.contains(UInt8(ascii: ";")) {
        throw SDKError(
          .local, .invalidAuthParameters, "The \(name) has a semicolon, which a cookie can't have; use headers.",
          member: "auth.\(name)")
      }
    }
  }

  private static func text(_ secret: Secret?) -> Secret? { secret.flatMap { $0.isEmpty ? nil : $0 } }
}
