import JSONRPC
import SDKProtocol

/// Checks for faults that the vendor refuses without an explanation: it answers "Invalid JWT" to all
/// of them.
enum MessagingLint {
  /// A fault that was found.
  struct Finding {
    /// The description of the fault for `hints`.
    let hint: String
    /// Whether the vendor certainly refuses such a token.
    let isFatal: Bool
  }

  static func findings(_ jwt: DecodedJWT) -> [Finding] {
    let claims = jwt.payload
    var found: [Finding] = []
    func add(_ hint: String, fatal: Bool = true) { found.append(Finding(hint: hint, isFatal: fatal)) }

    let algorithm = jwt.header["alg"]?.stringValue
    if algorithm != "HS256" {
      add("alg: the header says \(algorithm?.clipped(toUTF8: 16) ?? "nothing"); the vendor takes HS256")
    }
    if jwt.header["kid"]?.stringValue?.isEmpty ?? true {
      add("kid: the header has none; it must be the id of the signing key")
    }
    if let type = jwt.header["typ"]?.stringValue, type != "JWT" {
      add("typ: the header says \(type.clipped(toUTF8: 16)) instead of JWT", fatal: false)
    }
    switch claims["scope"]?.stringValue {
    case "user"?: break
    case "appUser"?: add("scope: appUser is the old form; write user", fatal: false)
    case let scope?: add("scope: \(scope.clipped(toUTF8: 32)) must be user")
    case nil: add("scope: it is missing; it must be user")
    }
    if let exp = claims["exp"]?.doubleValue, exp > 100_000_000_000 {
      add("exp: \(exp) looks like milliseconds; it counts seconds", fatal: false)
    }
    if claims["exp"] == nil { add("exp: it is missing; a short life is advised", fatal: false) }
    if let id = claims["external_id"]?.stringValue, id != id.trimmingWhitespace {
      add("external_id: it begins or ends with white space", fatal: false)
    }
    return found
  }
}

extension String {
  fileprivate var trimmingWhitespace: String {
    String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }
}
