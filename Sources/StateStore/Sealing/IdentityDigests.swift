package import Cryptography
import SDKProtocol

/// Digests of users' ids that are secrets, for observers, events and the journal.
///
/// They are keyed, so that trying all phone numbers finds nothing, and differ between instances. Those of one instance
/// stay the same over restarts, wipes and rotations of the key.
public struct IdentityDigests: Sendable {
  private let key: SymmetricKey

  /// Creates the digests of a state from one of its own keys.
  package init(key: SymmetricKey) { self.key = DerivedKey.derive(from: key, purpose: "identity digests") }

  /// Creates digests with a random key, for a state that is not on disk.
  public init() { key = SymmetricKey() }

  /// Returns the digest of an id in an instance: sixteen hexadecimal digits.
  public func digest(of id: String, in instance: InstanceUUID) -> String {
    let message = Array("\(instance) ".utf8) + Array(id.utf8)
    let code = key.authenticationCode(of: message)
    return code.prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
