public import JSONRPC
public import SDKProtocol

/// An answer of a delegate or a provider: the members of `provider.md`'s table.
///
/// It contains secrets, so it prints as `‹answer›` wherever it is interpolated, dumped or mirrored.
public struct BridgeAnswer: Sendable, Hashable {
  /// The members as they were received, such as `token`, `expiresAt`, `uniqueId`, `proceed`.
  public var members: JSONObject

  /// Creates an answer with these members.
  public init(members: JSONObject) { self.members = members }

  /// Creates an answer with a token.
  public init(token: Secret, expiresAt: Timestamp? = nil) {
    members = ["token": .string(token.reveal())]
    members["expiresAt"] = expiresAt.map { .string($0.description) }
  }

  /// The token, if the answer has one.
  public var token: Secret? { secret("token") }

  /// The expiry of the token; RFC 3339 or seconds since 1970 in the answer.
  public var expiresAt: Timestamp? { members["expiresAt"].flatMap(Self.moment) }

  /// `support`: the owner's id of the user.
  public var uniqueId: String? { members["uniqueId"]?.stringValue }

  /// `shouldAuthenticate`: whether the service is to be authenticated.
  public var authenticate: Bool? { members["authenticate"]?.boolValue }

  /// `shouldAuthenticate`: the service's settings, if the owner provides them.
  public var settings: JSONObject? { members["settings"]?.objectValue }

  /// `authenticationFailed`: `true` requests settings again, `false` continues as a guest; `nil` if absent.
  public var proceed: Bool? { members["proceed"]?.boolValue }

  /// Whether the question is passed on to the next source.
  public var isDeferred: Bool { members["defer"]?.boolValue ?? false }

  /// Returns a member that is a secret text.
  public func secret(_ name: String) -> Secret? { members[name]?.stringValue.map { Secret($0) } }

  /// Parses RFC 3339 text or a number of seconds since 1970. Returns `nil` for any other value, such as milliseconds
  /// since 1970.
  static func moment(_ value: JSON) -> Timestamp? {
    let seconds = value.doubleValue ?? value.stringValue.flatMap { Double($0) }
    guard let seconds else { return value.stringValue.flatMap { Timestamp($0) } }
    return (0...253_402_300_799).contains(seconds) ? Timestamp(secondsSince1970: seconds) : nil
  }
}

extension BridgeAnswer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "‹answer›" }
  public var debugDescription: String { "‹answer›" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
