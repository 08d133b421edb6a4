public import JSONRPC

/// `token.get`: returns an unexpired credential.
public enum TokenGet: SDKMethod {
  public static let name = "token.get"
  public static let summary = "A living credential."
  public static let documentation = """
    From memory when the cached token lives for `minTTL` seconds, else through one refresh that all waiters
    share. When renewal fails and the cached token still lives it is returned with `stale: true`. A fresh
    token that lives shorter than `minTTL` has `short: true`. Errors: notAuthenticated, reauthNeeded, locked,
    noIdentity, and those of provider and vendor.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.read
  public static let errors: [DeclaredError] = DeclaredError.ofCredentials
  public static let example = MethodExample(
    ["instance": "front-desk", "minTTL": 60, "http": true],
    result: [
      "token": MethodExample.jwt,
      "tokenId": "8a2fb96f60ae4a73",
      "tokenType": "jwt",
      "expiresAt": "2026-11-24T09:42:35.000Z",
      "ttl": 3599.167,
      "fromCache": true,
      "stale": false,
      "http": ["headers": ["Authorization": MethodExample.bearer], "cookies": [:]],
    ])

  /// The params of `token.get`.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID
    /// The service, for kinds that have several.
    public var service: String?
    /// The minimum time until the token expires; 0 unless given.
    public var minTTL: Seconds?
    /// The maximum time to wait. After it, the call fails and the work continues without the caller.
    public var timeout: Seconds?
    /// Whether the result has `http`: the headers and cookies that carry the token.
    public var http: Bool?

    /// Creates params with these members.
    public init(
      instance: InstanceID, service: String? = nil, minTTL: Seconds? = nil, timeout: Seconds? = nil, http: Bool? = nil
    ) {
      self.instance = instance
      self.service = service
      self.minTTL = minTTL
      self.timeout = timeout
      self.http = http
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .optional("service", .string(), "the service, for kinds that have several"),
      .optional("minTTL", Seconds.jsonSchema, "how long the token must live at least; 0 unless given"),
      .optional("timeout", Seconds.jsonSchema, "how long to wait; the work goes on without the caller"),
      .optional("http", .boolean, "also say how to put it on a request"),
    ])
  }

  public typealias Result = Token
}

extension TokenGet.Params {
  /// Reads params that have no members but `instance`, `http`, `minTTL` and `timeout`, the times as numbers, without
  /// using their schema. Returns `nil` for all other params: invalid ones, and rare forms that only decoding accepts.
  public init?(plain params: JSON) {
    guard case .object(let object) = params else { return nil }
    var instance: InstanceID?
    var (http, minTTL, timeout): (Bool?, Seconds?, Seconds?)
    for member in object.members {
      switch (member.key, member.value) {
      case ("instance", .string(let name)): instance = InstanceID(name)
      case ("http", .bool(let isWanted)): http = isWanted
      case ("minTTL", .number(let number)):
        guard let seconds = number.double.flatMap({ Seconds($0) }) else { return nil }
        minTTL = seconds
      case ("timeout", .number(let number)):
        guard let seconds = number.double.flatMap({ Seconds($0) }) else { return nil }
        timeout = seconds
      // An unknown member, or a service, of which only the general path knows the names.
      default: return nil
      }
    }
    guard let instance else { return nil }
    self.init(instance: instance, minTTL: minTTL, timeout: timeout, http: http)
  }
}
