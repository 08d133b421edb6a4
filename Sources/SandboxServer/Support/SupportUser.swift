/// A user of the Support backend, and how the vendor knows that it is the same one again.
struct SupportUser: Sendable {
  /// `user_id` on the wire.
  let id: Int
  let identity: Identity
  var name: String?
  var email: String?

  /// What stays when names, addresses and unique ids change.
  enum Identity: Hashable, Sendable {
    /// The installation's guid, in lower case.
    case anonymous(guid: String)
    /// The e-mail of the customer's JWT: the vendor tells users apart by it.
    case verified(email: String)
  }

  /// As `GET /api/mobile/users/me.json` shows it.
  var tree: JSONTree {
    .of(["id": .number(Double(id)), "name": .optional(name), "email": .optional(email), "role": "end-user"])
  }

  /// As `GET /_state` shows it.
  var stateTree: JSONTree {
    let guid: String? = if case .anonymous(let guid) = identity { guid } else { nil }
    return .of([
      "id": .number(Double(id)), "authentication": .string(guid == nil ? "jwt" : "anonymous"),
      "sdkGuid": .optional(guid), "name": .optional(name), "email": .optional(email),
    ])
  }

  /// Whether `text` names this user in `POST /_revoke`: user id, guid, e-mail, or the e-mail without its domain.
  func isNamed(_ text: String) -> Bool {
    switch identity {
    case .anonymous(let guid) where guid == text.lowercased(): return true
    case .verified(let email) where email == text || email == "\(text)@\(DemoAccounts.mailDomain)": return true
    default: return text == String(id)
    }
  }
}
