import JSONRPC

/// A user of the Support backend, with the identity by which the vendor recognizes the user.
struct SupportUser: Sendable {
  /// The `user_id` on the wire.
  let id: Int
  let identity: Identity
  var name: String?
  var email: String?

  /// The identity of a user, which stays the same when names and unique ids change.
  enum Identity: Hashable, Sendable {
    /// An anonymous user by the installation's guid, in lower case.
    case anonymous(guid: String)
    /// A verified user by the e-mail of the customer's JWT, by which the vendor distinguishes users.
    case verified(email: String)
  }

  /// The user as `GET /api/mobile/users/me.json` shows it.
  var tree: JSON {
    .of(["id": .number(Double(id)), "name": .optional(name), "email": .optional(email), "role": "end-user"])
  }

  /// The user as `GET /_state` shows it.
  var stateTree: JSON {
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

/// A push registration (`push_notification_device` on the wire).
struct SupportDevice: Sendable {
  let id: Int
  let userID: Int
  /// The push token.
  let identifier: String
  /// The other members, as sent.
  let details: [String: JSON]

  var tree: JSON {
    var members = details
    members["id"] = .number(Double(id))
    members["identifier"] = .string(identifier)
    return .object(members)
  }

  var stateTree: JSON {
    var members = tree.members ?? [:]
    members["userId"] = .number(Double(userID))
    return .object(members)
  }
}
