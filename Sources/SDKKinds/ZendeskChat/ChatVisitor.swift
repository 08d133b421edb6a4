import SDKInstances
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The state that a Chat instance stores of its visitor, besides the user and the id token.
struct ChatVisitor: Sendable, Hashable {
  private static let machineKey = "mid"
  private static let stateKey = "state"
  private static let authenticatorKey = "authenticator"
  private static let bannedKey = "banned"

  /// The visitor's machine id; `nil` until there is a visitor.
  var machineId: String?
  /// The opaque state that the vendor returned with the last exchange; `nil` for none.
  var state: Secret?
  /// Whether an identity was set, so that the owner is asked for JWTs.
  var isIdentified: Bool
  /// Whether the visitor is banned, according to an app or the mediator.
  var isBanned: Bool

  /// Reads the visitor's state from the values that an identity stores.
  init(_ identity: IdentityRecord) {
    let kept = identity.kindState
    machineId = kept[Self.machineKey]?.reveal()
    state = kept[Self.stateKey]
    isIdentified = kept[Self.authenticatorKey] != nil
    isBanned = kept[Self.bannedKey] != nil
  }

  /// The values that the identity stores.
  var kindState: [String: Secret] {
    var kept: [String: Secret] = [:]
    kept[Self.machineKey] = machineId.map { Secret($0) }
    kept[Self.stateKey] = state
    if isIdentified { kept[Self.authenticatorKey] = Secret("set") }
    if isBanned { kept.merge(Self.ban) { _, new in new } }
    return kept
  }

  /// The stored value that marks a ban.
  static let ban = [bannedKey: Secret("reported")]

  /// Generates the machine id if there is none yet.
  mutating func settle() {
    machineId = machineId ?? UUID().uuidString.lowercased().filter { $0 != "-" }
  }
}
