import SDKInstances
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a Chat instance keeps of its visitor beside the user and the id token.
struct ChatVisitor: Sendable, Hashable {
  private static let machineKey = "mid"
  private static let stateKey = "state"
  private static let authenticatorKey = "authenticator"
  private static let bannedKey = "banned"

  /// The visitor's machine id; `nil` before there is a visitor.
  var machineId: String?
  /// The vendor's opaque state of the last exchange.
  var state: Secret?
  /// Whether an identity was set: the owner is asked for JWTs.
  var isIdentified: Bool
  /// Whether the visitor is banned, as far as an app or the mediator has said.
  var isBanned: Bool

  /// The visitor of an identity.
  init(_ identity: IdentityRecord) {
    let kept = identity.kindState
    machineId = kept[Self.machineKey]?.reveal()
    state = kept[Self.stateKey]
    isIdentified = kept[Self.authenticatorKey] != nil
    isBanned = kept[Self.bannedKey] != nil
  }

  /// What is kept with the identity.
  var kindState: [String: Secret] {
    var kept: [String: Secret] = [:]
    kept[Self.machineKey] = machineId.map { Secret($0) }
    kept[Self.stateKey] = state
    if isIdentified { kept[Self.authenticatorKey] = Secret("set") }
    if isBanned { kept.merge(Self.ban) { _, new in new } }
    return kept
  }

  /// What notes a ban.
  static let ban = [bannedKey: Secret("reported")]

  /// The machine id, made if there is none yet.
  mutating func settle() {
    machineId = machineId ?? UUID().uuidString.lowercased().filter { $0 != "-" }
  }
}
