import JSONRPC
import SDKInstances
import SDKProtocol

/// The proof and attributes of an `authorize` call or a response of the bridge. They travel in the details of a
/// `CheckedCredential`.
struct EdnaOffer {
  var auth: EdnaAuth
  /// The user's attributes; `nil` to leave them as they are.
  var data: [String: String]?

  /// Creates an offer.
  init(auth: EdnaAuth, data: [String: String]? = nil) {
    self.auth = auth
    self.data = data
  }

  /// Reads the offer from the details of a credential.
  init(_ credential: CheckedCredential) {
    auth = EdnaAuth(stored: credential.details["auth"])
    data = credential.details["data"].flatMap { EdnaState([EdnaState.dataKey: $0]).data }
  }

  /// Returns the offer as a credential, which expires at `expiresAt` or with its token, whichever is earlier.
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
