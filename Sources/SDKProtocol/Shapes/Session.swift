public import JSONRPC

/// The data that an app needs to open a conversation (sdkd-protocol(7)).
public struct Session: RPCValue, Hashable {
  /// The vendor's URLs, and the ids by which the vendor knows the app, the user and the device.
  public struct Endpoint: RPCValue, Hashable {
    public var baseUrl: String?
    public var realtimeUrl: String?
    public var appId: String?
    public var appUserId: String?
    public var clientId: String?
    public var deviceAddress: String?
    public var machineId: String?
    public var instanceUrl: String?

    /// Creates an endpoint without values.
    public init() {}

    public static let jsonSchema = JSONSchema.named(
      "Endpoint",
      .object([
        .optional("baseUrl", .string(), "the vendor's base URL"),
        .optional("realtimeUrl", .string(), "the vendor's realtime URL"),
        .optional("appId", .string(), "the app's id"),
        .optional("appUserId", .string(), "the user's id in the app"),
        .optional("clientId", .string(), "this instance's client id"),
        .optional("deviceAddress", .string(), "the device's address"),
        .optional("machineId", .string(), "the machine's id"),
        .optional("instanceUrl", .string(), "the vendor's instance URL"),
      ]))
  }

  /// The reason why no content can be shown.
  public enum HiddenReason: String, Sendable, Codable, DescribedEnumeration {
    case reauthNeeded, locked, banned, notAuthenticated

    public static let jsonSchema = schema(named: "HiddenReason")
    public var meaning: String {
      switch self {
      case .reauthNeeded: "A new credential is needed first."
      case .locked: "The instance is locked."
      case .banned: "The vendor has banned the user."
      case .notAuthenticated: "Nobody is signed in, and no anonymous user may be made."
      }
    }
  }

  public var user: User
  public var token: Token?
  public var endpoint: Endpoint
  public var visible: Bool
  public var reason: HiddenReason?
  public var prefill: String?
  public var data: [String: String]?
  public var editableFields: [String]
  public var history: Bool
  public var mayMerge: Bool
  /// Whether the connection to the vendor is open; `nil` for SDKs that keep no connection.
  public var live: Bool?
  public var storageEpoch: String
  public var service: String?

  /// Creates a session.
  public init(
    user: User, token: Token? = nil, endpoint: Endpoint = Endpoint(), visible: Bool, reason: HiddenReason? = nil,
    prefill: String? = nil, data: [String: String]? = nil, editableFields: [String] = [], history: Bool,
    mayMerge: Bool, live: Bool? = nil, storageEpoch: String, service: String? = nil
  ) {
    self.user = user
    self.token = token
    self.endpoint = endpoint
    self.visible = visible
    self.reason = reason
    self.prefill = prefill
    self.data = data
    self.editableFields = editableFields
    self.history = history
    self.mayMerge = mayMerge
    self.live = live
    self.storageEpoch = storageEpoch
    self.service = service
  }

  public static let jsonSchema = JSONSchema.named(
    "Session",
    .object([
      .required("user", User.jsonSchema, "who the session is for"),
      .optional("token", Token.jsonSchema, "the credential, with its http member"),
      .required("endpoint", Endpoint.jsonSchema, "where the vendor is"),
      .required("visible", .boolean, "whether content may be shown"),
      .optional("reason", HiddenReason.jsonSchema, "why nothing can be shown"),
      .optional("prefill", .string(), "text for the input field, once"),
      .optional("data", .map(.string()), "data about the user that goes with the session"),
      .required("editableFields", .array(.string()), "what the visitor may edit"),
      .required("history", .boolean, "whether there is a history to show"),
      .required("mayMerge", .boolean, "whether a login may merge this conversation into another"),
      .optional("live", .boolean, "whether the connection with the vendor is open; absent for SDKs that keep none"),
      .required("storageEpoch", .string(), "give it to storage.put, so that no write reaches the next user"),
      .optional("service", .string(), "the service, for kinds that have several"),
    ]))
}
