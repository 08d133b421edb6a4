import JSONRPC
import SDKInstances
import SDKProtocol

/// What an `authorize` or an answer of the bridge brings, and its way through a `CheckedCredential`.
struct EdnaOffer {
  var auth: EdnaAuth
  /// The user's attributes; `nil` when the caller says nothing of them.
  var data: [String: String]?

  /// An offer.
  init(auth: EdnaAuth, data: [String: String]? = nil) {
    self.auth = auth
    self.data = data
  }

  /// The offer in a credential.
  init(_ credential: CheckedCredential) {
    auth = EdnaAuth(stored: credential.details["auth"])
    data = credential.details["data"].flatMap { EdnaState([EdnaState.dataKey: $0]).data }
  }

  /// The offer as a credential.
  func checked(
    identifier: Secret? = nil, name: String? = nil, hints: [String] = [], expiresAt: Timestamp? = nil, now: Timestamp
  ) -> CheckedCredential {
    var details = ["auth": auth.stored]
    if let data { details["data"] = EdnaState.stored(data) }
    let end = [expiresAt, auth.end].compactMap { $0 }.min()
    return CheckedCredential(
      credential: Credential(token: auth.token ?? Secret(""), type: .custom, obtainedAt: now, expiresAt: end),
      externalId: identifier?.reveal(), name: name, hints: hints, details: details)
  }
}
