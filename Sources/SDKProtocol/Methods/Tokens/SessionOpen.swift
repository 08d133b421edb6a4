public import JSONRPC

/// `session.open`: returns the data that an app needs to open a conversation.
public enum SessionOpen: SDKMethod {
  public static let name = "session.open"
  public static let summary = "Opens the conversation, and returns all that an app needs for it."
  public static let documentation = """
    Opens the conversation; to show who is signed in, call instance.currentUser, which only reads. Returns the user,
    the credential with the way to put it on a request, and where the vendor is. May act at the vendor: with
    zendesk.messaging it creates an anonymous user if nobody is signed in and the setting `anonymous` is not `never`;
    the event anonymousUserCreated reports that.
    `visible: false` comes with a `reason` if nothing may be shown. Errors: as token.get, but for a missing user.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.read
  public static let errors: [DeclaredError] = DeclaredError.ofCredentials
  public static let example = MethodExample(
    ["instance": "front-desk"],
    result: [
      "user": MethodExample.user,
      "token": [
        "token": MethodExample.jwt,
        "tokenId": "8a2fb96f60ae4a73",
        "tokenType": "jwt",
        "expiresAt": "2026-11-24T09:42:35.000Z",
        "ttl": 3599.168,
        "fromCache": true,
        "stale": false,
        "http": ["headers": ["Authorization": MethodExample.bearer], "cookies": [:]],
      ],
      "endpoint": [
        "baseUrl": "https://acme.zendesk.com/sc",
        "realtimeUrl": "wss://acme.zendesk.com/sc/faye",
        "appId": "5f0000000000000000000001",
        "appUserId": "cb3375eca8fa493f8062f73d",
        "clientId": "a694a68640144287a57194fc53db2e60",
      ],
      "visible": true,
      "editableFields": [],
      "history": true,
      "mayMerge": false,
      "storageEpoch": "a694a686-0",
    ])

  /// The params of `session.open`.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID
    /// The service, for kinds that have several.
    public var service: String?
    /// The minimum time until the token expires; 0 unless given.
    public var minTTL: Seconds?
    /// The maximum time to wait. After it, the call fails and the work continues without the caller.
    public var timeout: Seconds?

    /// Creates params with these members.
    public init(instance: InstanceID, service: String? = nil, minTTL: Seconds? = nil, timeout: Seconds? = nil) {
      self.instance = instance
      self.service = service
      self.minTTL = minTTL
      self.timeout = timeout
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .optional("service", .string(), "the service, for kinds that have several"),
      .optional("minTTL", Seconds.jsonSchema, "how long the token must live at least; 0 unless given"),
      .optional("timeout", Seconds.jsonSchema, "how long to wait; the work goes on without the caller"),
    ])
  }

  public typealias Result = Session
}
