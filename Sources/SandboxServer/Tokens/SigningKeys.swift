/// The signing secrets of an account by key id; at most ten, as the vendor documents (`vendors.md` 1.4).
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
