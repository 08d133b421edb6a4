import JSONRPC
public import SDKProtocol
public import StateStore

/// The identity that an instance is signed in as, sealed on disk. A wipe destroys it.
public struct IdentityRecord: Sendable, Hashable, Codable {
  /// The authentication phase of the instance.
  public var phase: AuthenticationMachine.Phase
  /// The user; `.none` without one.
  public var user: User
  /// The credential; `nil` without one.
  public var credential: Credential?
  /// Whether the vendor has refused the credential.
  public var isRefused: Bool
  /// The kind's own state, such as a client id or a session token.
  public var kindState: [String: Secret]
  /// The last failure; `nil` without one.
  public var lastError: Instance.LastError?
  /// The name of the restriction with which the instance continues after a failure, such as `anonymousFallback`; `nil`
  /// for none.
  public var degraded: String?
  /// Whether the last logout was implicit. Then no anonymous user is made until a login or an explicit logout.
  public var isLoggedOutImplicitly: Bool?
  /// Whether a single-use credential is being spent. If the daemon crashes meanwhile, it is unknown whether it was
  /// spent.
  public var isSpending: Bool?

  /// Creates an identity with these parts.
  public init(
    phase: AuthenticationMachine.Phase, user: User = .none, credential: Credential? = nil, isRefused: Bool = false,
    kindState: [String: Secret] = [:], lastError: Instance.LastError? = nil
  ) {
    self.phase = phase
    self.user = user
    self.credential = credential
    self.isRefused = isRefused
    self.kindState = kindState
    self.lastError = lastError
  }

  /// Returns an identity without a user, as it is before the first login and after a logout.
  public static func nobody(_ phase: AuthenticationMachine.Phase) -> IdentityRecord { IdentityRecord(phase: phase) }

  /// The text that identifies the user in records that outlive the identity; `nil` without a user.
  public var subject: Secret? { (user.externalId ?? user.id).map { Secret($0) } }

  /// Whether the identity holds nothing that a wipe would destroy.
  public var isNobody: Bool { user == .none && credential == nil && kindState.isEmpty }

  /// Returns the status of the credential at a time, for a record that was read when the daemon started.
  func standing(at now: Timestamp) -> AuthenticationMachine.Standing {
    if isRefused { return .refused }
    guard let credential else { return phase == .authenticated ? .usable : .none }
    // An anonymous fallback counts as expired, whatever the clock says now. Only a later check of the clock signs the
    // user in again.
    if degraded != nil { return .expired }
    // Only a call renews an anonymous user's credential; until then its expiry changes nothing.
    return phase != .anonymous && credential.hasExpired(at: now) ? .expired : .usable
  }

  /// Returns the record in the form that the store keeps.
  func json() throws -> JSON { try JSONValueEncoder.encode(self) }

  /// Decodes a record from the form that the store keeps.
  static func read(_ json: JSON) throws -> IdentityRecord { try JSONValueDecoder.decode(from: json) }
}

/// The stored form of an instance's identities: one record, or one for each service.
struct StoredIdentities {
  private var whole: IdentityRecord?
  private var services: [String: IdentityRecord] = [:]

  /// Decodes the stored form. `nil` gives an empty value without identities.
  init(_ json: JSON?) throws {
    guard let json else { return }
    if let records = json["services"]?.objectValue {
      for member in records.members { services[member.key] = try IdentityRecord.read(member.value) }
    } else {
      whole = try IdentityRecord.read(json)
    }
  }

  subscript(service: String?) -> IdentityRecord? {
    guard let service else { return whole }
    return services[service]
  }

  /// Returns the stored form of these records: the only record if it has no service, otherwise an object by service.
  static func json(_ records: [(service: String?, record: IdentityRecord)]) throws -> JSON {
    if let only = records.first, only.service == nil { return try only.record.json() }
    var services = JSONObject()
    for (service, record) in records { services[service ?? ""] = try record.json() }
    return .object(["services": .object(services)])
  }
}

/// The concealment of one instance's users, whose external ids are secrets: digests take their place.
public struct Concealment: Sendable {
  private let digests: IdentityDigests
  private let instance: InstanceUUID

  /// Creates the concealment for an instance.
  public init(_ digests: IdentityDigests, of instance: InstanceUUID) {
    self.digests = digests
    self.instance = instance
  }

  /// Returns a user with a digest in place of the external id.
  func user(_ user: User) -> User {
    var user = user
    user.externalId = user.externalId.map { digests.digest(of: $0, in: instance) }
    return user
  }
}
