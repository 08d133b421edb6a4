public import JSONRPC

/// The JSON schemas of events: one for each type, since the data depends on the type.
extension EventType {
  /// The JSON schema of an event of this type.
  var eventSchema: JSONSchema {
    .named(
      "\(typeName)Event",
      .object([
        .required("cursor", .cursor, "its position in the daemon's order"),
        .required("time", Timestamp.jsonSchema, "when it happened"),
        .required("instance", InstanceID.jsonSchema, "the instance that it is about"),
        .required("kind", KindName.jsonSchema, "the instance's SDK"),
        .optional("service", .string(), "the service, for kinds that have several"),
        .required("type", .constant(rawValue), meaning),
        .optional("operation", .string(), "the operation that it completes"),
        .required("data", dataSchema, "its details"),
      ]))
  }

  /// The JSON schema of the member `data` of events of this type.
  private var dataSchema: JSONSchema {
    switch self {
    case .userLoggedIn:
      data([
        .optional("user", User.jsonSchema, "the user that is signed in now"),
        .optional("hints", .array(.string()), "findings about the credential, such as nearExpiry"),
      ])
    case .anonymousUserCreated: data([.optional("user", User.jsonSchema, "the anonymous user")])
    case .userLoggedOut:
      data([
        .optional("user", User.jsonSchema, "the user that was signed in"),
        .required("cause", LogoutCause.jsonSchema, "why"),
      ])
    case .loginSuperseded:
      data([
        .required("operation", .string(), "the operation of the login"),
        .required("by", SupersedingCall.jsonSchema, "what the later call asked for"),
      ])
    case .logoutFailed:
      data([
        .required("reason", Reason.jsonSchema, "the stable name"),
        .required("retrying", .boolean, "whether the daemon tries again by itself"),
      ])
    case .authenticationFailed:
      data([
        .required("reason", Reason.jsonSchema, "the stable name"),
        .required("message", .string(), "what happened and what to do next"),
        .optional("httpStatus", .integer(), "the vendor's HTTP status"),
        .optional("vendorCode", .string(), "the vendor's error code"),
        .optional("vendorDescription", .string(), "the vendor's error description"),
        .required("hints", .array(.string()), "possible causes"),
      ])
    case .tokenRefreshed:
      data([
        .optional("tokenId", TokenID.jsonSchema, "the id of the new credential"),
        .optional("expiresAt", Timestamp.jsonSchema, "when it expires, if that is known"),
      ])
    case .refreshFailed:
      data([
        .required("reason", Reason.jsonSchema, "the stable name"),
        .optional("nextAttemptAt", Timestamp.jsonSchema, "when the token provider is asked again"),
      ])
    case .fellBackToAnonymous: data([.required("reason", Reason.jsonSchema, "the stable name")])
    case .userMerged:
      data([
        .required("from", .string(), "the vendor's id of the former user"),
        .required("to", .string(), "the vendor's id of the user that is left"),
        .required("mode", .enumeration(["single", "multi"]), "the app's conversation mode"),
      ])
    case .identityWiped:
      data([
        .required("storage", .integer(minimum: 0), "values in storage"),
        .required("pushes", .integer(minimum: 0), "push registrations"),
        .required("tokens", .integer(minimum: 0), "tokens"),
        .required("storageEpoch", .string(), "the new storage epoch"),
      ])
    case .networkError:
      data([
        .required("reason", Reason.jsonSchema, "the stable name"),
        .optional("httpStatus", .integer(), "the vendor's HTTP status"),
      ])
    case .instanceUpdated:
      data([
        .optional("changed", .array(.string()), "what differs, such as settings or access"),
        .optional("access", AccessRules.jsonSchema, "the new access rules if they changed and have at most 4 KiB"),
      ])
    case .pushRegistered, .pushUnregistered, .pushOrphaned:
      .named(
        "PushData",
        .object([
          .required("id", .string(), "the registration's id"), .optional("user", User.jsonSchema, "whose it is"),
        ]))
    case .identityChanged, .settingsUpdated, .delegateAttached, .delegateDetached, .breakerOpened, .breakerClosed,
      .instanceCreated, .instanceDeleted:
      .empty
    }
  }

  private func data(_ members: [JSONMember]) -> JSONSchema { .named("\(typeName)Data", .object(members)) }

  /// The type's name with a capital first letter, for the names of schemas.
  private var typeName: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

/// A call that ended an accepted login (sdkd-protocol(7)).
public enum SupersedingCall: String, Sendable, Hashable, Codable, DescribedEnumeration {
  case login, logout, deauthorize

  public static let jsonSchema = schema(named: "SupersedingCall")

  public var meaning: String {
    switch self {
    case .login: "Another login."
    case .logout: "A logout."
    case .deauthorize: "A call that makes the daemon forget the user."
    }
  }
}

/// The cause of a logout (sdkd-protocol(7)).
public enum LogoutCause: String, Sendable, Hashable, Codable, DescribedEnumeration {
  case explicit, implicit, deauthorized, `switch`, guest

  public static let jsonSchema = schema(named: "LogoutCause")

  public var meaning: String {
    switch self {
    case .explicit: "A call logged the user out."
    case .implicit: "The vendor ended the session, or no credential was to be had any more."
    case .deauthorized: "A call made the daemon forget the user; the vendor was not told."
    case .switch: "Another user took this one's place."
    case .guest: "The owner decided that the user goes on as a guest."
    }
  }
}
