import DelegateBridge
import SDKInstances
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension SupportAdapter {
  /// The owner must supply the unique id before this identity can be set.
  struct OwnerNeeded: Error {}

  /// What a caller wants to set, as what is shown to the vendor.
  ///
  /// - Parameters:
  ///   - isUsable: whether the credential of the present identity may be handed out.
  ///   - refusing: whether a change of identity is refused.
  /// - Returns: `nil` when there is nothing to do (`sdks.md`, S6).
  /// - Throws: `identityChangeRefused`, `personalDataRefused`, `invalidName`, `invalidEmail`, `invalidIdentifier`,
  ///   `weakIdentifier`; `OwnerNeeded`.
  func offer(
    _ asked: SupportIdentity, over record: IdentityRecord, isUsable: Bool, refusing: Bool
  ) throws -> CheckedCredential? {
    let stored = SupportIdentity(record.kindState)
    let isSame = stored.map { asked.isSame(as: $0) } ?? false
    if isSame, isUsable, asked.isSupplied == stored?.isSupplied { return nil }
    if let stored, refusing, !isSame, !(asked.needsOwner && stored.type == .jwt) {
      throw SDKError(
        .state, .identityChangeRefused,
        "Another identity is set, and changing it would wipe what it stores; set onChange to wipe, or clear it first.")
    }
    try checkPersonalData(of: asked)
    try asked.checkLengths()
    if asked.needsOwner, !account.excludes(asked.type, for: record) { throw OwnerNeeded() }
    let hints = try asked.uniqueId.map { id throws(SDKError) in
      try SupportLint.check(id, isStrict: settings.strictIdentifiers == true)
    }
    let guid = isSame ? record.kindState[SupportIdentity.guidKey] : nil
    return credential(asked, guid: guid ?? newGuid(), hints: hints ?? [], now: clock.now())
  }

  /// The identity that an answer of the bridge supplies.
  ///
  /// - Throws: `providerOutputInvalid`.
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
