import Foundation

/// The signing secrets of an account by key id; at most ten, as the vendor documents.
struct SigningKeys: Sendable {
  private(set) var secrets: [String: String]

  static let most = 10

  init(_ secrets: [String: String]) {
    self.secrets = secrets
  }

  /// Adds or replaces a key. With `nil` removes it.
  mutating func set(_ kid: String, to secret: String?) throws(ControlMistake) {
    if secret != nil, secrets[kid] == nil, secrets.count >= Self.most {
      throw ControlMistake("kid", "an account has at most \(Self.most) signing keys; remove one first")
    }
    secrets[kid] = secret
  }

  /// The keys as JSON: `[{"kid":…,"secret":…}]`, sorted by id.
  var tree: JSONTree {
    .array(secrets.sorted { $0.key < $1.key }.map { ["kid": .string($0.key), "secret": .string($0.value)] })
  }
}

/// The parts of a JWT, not yet verified.
struct SignedToken: Sendable {
  let header: JSONTree
  let claims: JSONTree
  let signature: Data
  /// The signed text: the first two parts with their dot.
  let input: String

  /// The parts of a token; `nil` unless the text is three parts of base64url, the first two of them JSON objects.
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3,
      let header = HS256.bytes(base64URL: parts[0]).flatMap({ JSONTree(parsing: $0) }), header.members != nil,
      let claims = HS256.bytes(base64URL: parts[1]).flatMap({ JSONTree(parsing: $0) }), claims.members != nil,
      let signature = HS256.bytes(base64URL: parts[2])
    else { return nil }
    self.header = header
    self.claims = claims
    self.signature = signature
    self.input = "\(parts[0]).\(parts[1])"
  }

  func isSigned(with secret: String) -> Bool {
    HS256.isValid(signature, of: input, secret: secret)
  }
}
