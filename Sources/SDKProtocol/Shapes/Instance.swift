public import JSONRPC

/// An instance as its observers see it (sdkd-protocol(7)).
public struct Instance: RPCValue, Hashable {
  /// The origin of an instance: a configuration file or a call.
  public enum Source: String, Sendable, Codable, DescribedEnumeration {
    case file, api

    public static let jsonSchema = schema(named: "InstanceSource")
    public var meaning: String {
      switch self {
      case .file: "A configuration file made it."
      case .api: "A call made it."
      }
    }
  }

  /// The state of a service, for kinds that have several services.
  public struct Service: RPCValue, Hashable {
    public var state: InstanceState
    public var user: User
    public var expiresAt: Timestamp?

    /// Creates a service's state.
    public init(state: InstanceState, user: User, expiresAt: Timestamp?) {
      self.state = state
      self.user = user
      self.expiresAt = expiresAt
    }

    public static let jsonSchema = JSONSchema.named(
      "Service",
      .object([
        .required("state", InstanceState.jsonSchema, "where the service stands"),
        .required("user", User.jsonSchema, "who is signed in"),
        .optional("expiresAt", Timestamp.jsonSchema, "when its token ends"),
      ]))
  }

  /// The state of an instance's delegate bridge.
  public struct Bridge: RPCValue, Hashable {
    /// The breaker's state.
    public enum BreakerState: String, Sendable, Codable, DescribedEnumeration {
      case closed, open, halfOpen

      public static let jsonSchema = schema(named: "BreakerState")
      public var meaning: String {
        switch self {
        case .closed: "The provider is asked whenever a credential is needed."
        case .open: "The provider failed too often and is left alone for a while."
        case .halfOpen: "The next question decides whether the provider is asked again."
        }
      }
    }

    public var state: BreakerState
    public var nextAttemptAt: Timestamp?
    public var lastExit: String?
    public var attached: Int

    /// Creates a bridge's state.
    public init(state: BreakerState, nextAttemptAt: Timestamp? = nil, lastExit: String? = nil, attached: Int = 0) {
      self.state = state
      self.nextAttemptAt = nextAttemptAt
      self.lastExit = lastExit
      self.attached = attached
    }

    public static let jsonSchema = JSONSchema.named(
      "Bridge",
      .object([
        .required("state", BreakerState.jsonSchema, "the breaker's state"),
        .optional("nextAttemptAt", Timestamp.jsonSchema, "when the provider is asked again"),
        .optional("lastExit", .string(), "how the last run ended, such as 0, 75, signal 9, timeout"),
        .required("attached", .integer(minimum: 0), "how many delegates are attached"),
      ]))
  }

  /// An instance's last failure.
  public struct LastError: RPCValue, Hashable {
    public var reason: Reason
    public var message: String
    public var at: Timestamp

    /// Creates a failure.
    public init(reason: Reason, message: String, at: Timestamp) {
      self.reason = reason
      self.message = message
      self.at = at
    }

    public static let jsonSchema = JSONSchema.named(
      "LastError",
      .object([
        .required("reason", Reason.jsonSchema, "the stable name"),
        .required("message", .string(), "one sentence"),
        .required("at", Timestamp.jsonSchema, "when"),
      ]))
  }

  /// A pending cleanup delivery to the vendor, such as a logout. It may outlive its user.
  public struct Pending: RPCValue, Hashable {
    public var id: String
    public var purpose: String
    public var service: String?
    public var attempts: Int
    public var nextAttemptAt: Timestamp?
    public var deadline: Timestamp

    /// Creates a pending delivery.
    public init(
      id: String, purpose: String, service: String?, attempts: Int, nextAttemptAt: Timestamp?, deadline: Timestamp
    ) {
      self.id = id
      self.purpose = purpose
      self.service = service
      self.attempts = attempts
      self.nextAttemptAt = nextAttemptAt
      self.deadline = deadline
    }

    public static let jsonSchema = JSONSchema.named(
      "Pending",
      .object([
        .required("id", .string(), "its name"),
        .required("purpose", .string(), "what the vendor is told, such as revoke, unregisterPush, logout"),
        .optional("service", .string(), "the service it is about"),
        .required("attempts", .integer(minimum: 0), "how often it was tried"),
        .optional("nextAttemptAt", Timestamp.jsonSchema, "when it is tried again"),
        .required("deadline", Timestamp.jsonSchema, "when it is given up"),
      ]))
  }

  public var instance: InstanceID
  public var kind: KindName
  public var source: Source
  public var state: InstanceState
  public var user: User
  public var services: [String: Service]?
  public var labels: [String: String]
  public var settings: JSONObject
  public var provider: JSONObject?
  public var bridge: Bridge
  public var access: AccessRules
  public var expiresAt: Timestamp?
  public var lastError: LastError?
  public var degraded: String?
  public var pending: [Pending]?
  public var createdAt: Timestamp
  public var storageEpoch: String

  /// Creates an instance. An empty `pending` becomes `nil`.
  public init(
    instance: InstanceID, kind: KindName, source: Source, state: InstanceState, user: User,
    services: [String: Service]? = nil, labels: [String: String], settings: JSONObject, provider: JSONObject?,
    bridge: Bridge, access: AccessRules, expiresAt: Timestamp?, lastError: LastError?, degraded: String? = nil,
    pending: [Pending] = [], createdAt: Timestamp, storageEpoch: String
  ) {
    self.instance = instance
    self.kind = kind
    self.source = source
    self.state = state
    self.user = user
    self.services = services
    self.labels = labels
    self.settings = settings
    self.provider = provider
    self.bridge = bridge
    self.access = access
    self.expiresAt = expiresAt
    self.lastError = lastError
    self.degraded = degraded
    self.pending = pending.isEmpty ? nil : pending
    self.createdAt = createdAt
    self.storageEpoch = storageEpoch
  }

  public static let jsonSchema = JSONSchema.named(
    "Instance",
    .object([
      .required("instance", InstanceID.jsonSchema, "its id"),
      .required("kind", KindName.jsonSchema, "its SDK"),
      .required("source", Source.jsonSchema, "whether a file or a call made it"),
      .required("state", InstanceState.jsonSchema, "where it stands"),
      .required("user", User.jsonSchema, "who is signed in"),
      .optional("services", .map(Service.jsonSchema), "its services, for kinds that have several"),
      .required("labels", .map(.string()), "the operator's labels"),
      .required("settings", .map(.any), "its settings, secrets redacted"),
      .optional("provider", .map(.any), "its token provider; for admins only"),
      .required("bridge", Bridge.jsonSchema, "how the delegate bridge stands"),
      .required("access", AccessRules.jsonSchema, "who may do what"),
      .optional("expiresAt", Timestamp.jsonSchema, "when the token ends"),
      .optional("lastError", LastError.jsonSchema, "the last failure"),
      .optional("degraded", .enumeration(["anonymousFallback"]), "why it is not what it was set up for"),
      .optional("pending", .array(Pending.jsonSchema), "what the vendor must still be told"),
      .required("createdAt", Timestamp.jsonSchema, "when it was made"),
      .required("storageEpoch", .string(), "changes with every wipe"),
    ]))
}
