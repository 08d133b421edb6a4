import DelegateBridge
import SDKInstances
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension SupportAdapter {
  /// The error of an identity whose unique id the owner must supply first.
  struct OwnerNeeded: Error {}

  /// Checks the identity that a caller wants to set, and returns it as a credential.
  ///
  /// - Parameters:
  ///   - isUsable: whether the credential of the present identity may be issued.
  ///   - refusing: whether a change of identity is refused.
  /// - Returns: `nil` when there is nothing to do (`rows.md`, S6).
  /// - Throws: `identityChangeRefused`, `personalDataRefused`, `invalidName`, `invalidEmail`, `invalidIdentifier`,
  ///   `weakIdentifier`; `OwnerNeeded`.
  func offer(
    _ asked: SupportIdentity, over record: IdentityRecord, isUsable: Bool, refusing: Bool
  ) throws -> CheckedCredential? {
    try checkPersonalData(of: asked)
    let stored = SupportIdentity(record.kindState)
    let isSame = stored.map { asked.isSame(as: $0) } ?? false
    if isSame, isUsable, asked.isSupplied == stored?.isSupplied { return nil }
    if let stored, refusing, !isSame, !(asked.needsOwner && stored.type == .jwt) {
      throw SDKError(
        .state, .identityChangeRefused,
        "Another identity is set, and changing it would wipe what it stores; set onChange to wipe, or clear it first.")
    }
    try asked.checkLengths()
    if asked.needsOwner, !account.excludes(asked.type, for: record) { throw OwnerNeeded() }
    let hints = try asked.uniqueId.map { id throws(SDKError) in
      try SupportLint.check(id, isStrict: settings.strictIdentifiers == true)
    }
    let guid = isSame ? record.kindState[SupportIdentity.guidKey] : nil
    return credential(asked, guid: guid ?? newGuid(), hints: hints ?? [], now: clock.now())
  }

  /// Returns the identity that a response of the bridge supplies, with hints.
  ///
  /// - Throws: `providerOutputInvalid` for a response without a usable unique id.
  func supplied(_ answer: BridgeAnswer) throws(SDKError) -> (identity: SupportIdentity, hints: [String]) {
    guard let id = answer.uniqueId.map({ Secret($0) }) ?? answer.token else {
      throw SDKError(
        .provider, .providerOutputInvalid, "The token provider's answer has no uniqueId; it must give the user's one.")
    }
    do throws(SDKError) {
      return (.supplied(id), try SupportLint.check(id, isStrict: settings.strictIdentifiers == true))
    } catch {
      throw SDKError(
        .provider, .providerOutputInvalid, "The token provider gave a unique id that can't be used. \(error.message)",
        hints: error.hints)
    }
  }

  /// Checks that the setting `coppa` allows the identity's name and e-mail address.
  ///
  /// - Throws: `personalDataRefused`.
  func checkPersonalData(of identity: SupportIdentity) throws(SDKError) {
    guard settings.coppa == true, identity.name != nil || identity.email != nil else { return }
    throw SDKError(
      .state, .personalDataRefused,
      "The setting coppa forbids personal data; set the identity without name and e-mail.",
      member: identity.name != nil ? "identity.name" : "identity.email")
  }

  func credential(_ identity: SupportIdentity, guid: Secret, hints: [String], now: Timestamp) -> CheckedCredential {
    CheckedCredential(
      credential: Credential(token: identity.uniqueId ?? guid, type: .custom, obtainedAt: now, expiresAt: nil),
      name: identity.name, email: identity.email, hints: hints, details: identity.state(guid: guid))
  }

  func newGuid() -> Secret { Secret(UUID().uuidString.lowercased()) }
}
