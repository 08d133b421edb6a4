import JSONRPC
import SDKProtocol

/// Something about a JWT that will, or may, be refused.
struct JWTFinding: Hashable {
  /// How bad it is.
  enum Severity: String {
    /// It will be refused.
    case error
    /// It may be refused, or soon.
    case warning
    /// Good to know.
    case note
  }

  let severity: Severity
  /// The stable name.
  let name: String
  /// One sentence.
  let message: String

  init(_ severity: Severity, _ name: String, _ message: String) {
    self.severity = severity
    self.name = name
    self.message = message
  }

  /// The finding for programs.
  var json: JSON {
    ["severity": .string(severity.rawValue), "name": .string(name), "message": .string(message)]
  }

  /// Everything about a JWT at a time, the worst first.
  static func all(in jwt: DecodedJWT, now: Timestamp) -> [JWTFinding] {
    let found = header(jwt.header) + identity(jwt.payload) + JWTTimes(jwt.payload).findings(now: now)
    let order: [Severity] = [.error, .warning, .note]
    return order.flatMap { severity in found.filter { $0.severity == severity } }
  }

  private static func header(_ header: JSONObject) -> [JWTFinding] {
    var found: [JWTFinding] = []
    switch header["alg"]?.stringValue {
    case "HS256"?: break
    case let other?: found.append(.init(.error, "algNotHS256", "alg is \(other); only HS256 is accepted."))
    case nil: found.append(.init(.error, "algMissing", "The header has no alg; it must be HS256."))
    }
    if (header["kid"]?.stringValue ?? "").isEmpty {
      found.append(.init(.warning, "kidMissing", "The header has no kid; the vendor finds the signing key by it."))
    }
    if let type = header["typ"]?.stringValue, type.uppercased() != "JWT" {
      found.append(.init(.warning, "typNotJWT", "typ is \(type); it should be JWT."))
    }
    return found
  }

  private static func identity(_ payload: JSONObject) -> [JWTFinding] {
    var found: [JWTFinding] = []
    switch payload["scope"] {
    case .string("user")?: break
    case .string("appUser")?:
      found.append(.init(.note, "scopeLegacy", "scope is appUser, the legacy form; newer vendors' APIs want user."))
    case nil: found.append(.init(.warning, "scopeMissing", "There is no scope; it should be user."))
    case let other?:
      found.append(.init(.warning, "scopeNotUser", "scope is \(JSONWriter.text(of: other)); it should be user."))
    }
    switch payload["external_id"] {
    case nil: found.append(.init(.error, "externalIdMissing", "There is no external_id."))
    case .string(let id)? where id.isEmpty:
      found.append(.init(.error, "externalIdEmpty", "external_id is empty."))
    case .string(let id)? where id.unicodeScalars.count > 255:
      found.append(.init(.error, "externalIdTooLong", "external_id is longer than 255 characters."))
    case .string(let id)?:
      if id.unicodeScalars.count > 200 {
        found.append(.init(.warning, "externalIdLong", "external_id is longer than 200 characters, too long for some."))
      }
    case let other?:
      found.append(.init(.error, "externalIdNotString", "external_id is a \(other.typeName); it must be a string."))
    }
    return found
  }
}
