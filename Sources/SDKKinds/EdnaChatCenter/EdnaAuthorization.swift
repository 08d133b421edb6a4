import JSONRPC
import SDKInstances
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A call of `chatCenter.authorize` (`rows.md`, E1 to E5).
struct EdnaAuthorization {
  private let params: ChatCenterAuthorize.Params
  private let auth: EdnaAuth
  private let operation = Self.newOperation()

  init(_ params: ChatCenterAuthorize.Params) {
    self.params = params
    auth = params.auth.map(\.auth) ?? EdnaAuth()
  }

  /// Returns a new id for an operation: `op-` and a random UUID. The event of its outcome contains the id.
  static func newOperation() -> String { "op-\(UUID().uuidString.lowercased())" }

  func run(
    on instance: HostedInstance, _ context: CallContext
  ) async throws -> ChatCenterAuthorize.Result {
    try params.user.check()
    let (auth, user, now) = (auth, params.user, instance.wallClock.earliest)
    let pending = try await instance.beginSignIn(
      operation: operation, settling: { Self.settle(&$0, as: user, with: auth) },
      offering: { (adapter: EdnaAdapter, identity, isUsable) in
        let checked = try adapter.check(user, auth, now: now)
        if isUsable, Self.isKnown(user, auth, to: identity), adapter.hasPresentCipher(identity) { return nil }
        if auth.hasExpired(at: now) {
          throw SDKError(
            .local, .expiredJWT, "The JWT has expired. Authorize with a fresh token.", member: "auth.token",
            hints: checked.hints)
        }
        return checked
      })
    context.accepted(pending)
    guard params.wait == true else {
      let adapter = try await instance.state(as: EdnaAdapter.self).adapter
      return .accepted(operation: operation, hints: try adapter.check(user, auth, now: .now).hints)
    }
    return .user(try await instance.finish(pending, timeout: params.timeout?.value).user)
  }

  /// Whether `user` is the identity's user, with the proof of the last `authorize` or the one that the bridge has
  /// supplied since.
  static func isKnown(_ user: EdnaChatUser, _ auth: EdnaAuth, to identity: IdentityRecord) -> Bool {
    let state = EdnaState(identity.kindState)
    return identity.user.externalId.hasSameBytes(as: user.identifier.reveal())
      && (auth == state.given || auth == state.auth)
  }

  /// Stores the proof, and a new name or new attributes of the same user. The next chat that opens sends name and
  /// attributes to the vendor.
  static func settle(_ identity: inout IdentityRecord, as user: EdnaChatUser, with auth: EdnaAuth) {
    var state = EdnaState(identity.kindState)
    state.given = auth
    if let data = user.data { state.update(data) }
    if let name = user.name, !user.name.hasSameBytes(as: identity.user.name) {
      identity.user.name = name
      state.noteName()
    }
    identity.kindState = state.values
  }
}

extension EdnaAdapter {
  /// Whether the client id is encrypted with the configured key, or is sent as it was given where it needs no key.
  func hasPresentCipher(_ identity: IdentityRecord) -> Bool {
    let state = EdnaState(identity.kindState)
    return state.auth.isEncrypted || state.cipher == cipher?.name
  }

  /// Checks a user and proof without the network, and returns them as a credential.
  ///
  /// - Throws: `invalidIdentifier`, `weakIdentifier`, `invalidAuthParameters`.
  func check(_ user: EdnaChatUser, _ auth: EdnaAuth, now: Timestamp) throws(SDKError) -> CheckedCredential {
    let hints = try EdnaIdentifier.check(
      user.identifier, isEncrypted: auth.isEncrypted || cipher != nil, isSent: auth.isEncrypted || cipher == nil,
      isStrict: settings.strictIdentifiers ?? false)
    if let cipher, !auth.isEncrypted, user.identifier.reveal().utf8.count > cipher.capacity {
      throw SDKError(
        .local, .invalidIdentifier,
        "The identifier can't be encrypted: with this key it may have at most \(cipher.capacity) bytes.")
    }
    try auth.checkGiven()
    return EdnaOffer(auth: auth, data: user.data).checked(
      identifier: user.identifier, name: user.name, hints: hints, now: now)
  }
}
