public import JSONRPC

/// `push.list`: returns the push registrations of an instance.
public enum PushList: SDKMethod {
  public static let name = "push.list"
  public static let summary = "The registrations for push messages, orphaned ones included."
  public static let documentation = """
    Oldest first. Addresses are masked. Pages of at most `limit` (64, fewer when they are large); `next` is the id to
    give as `after` for the next page.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.read
  public static let concern = MethodConcern.push
  public static let errors: [DeclaredError] = [.wipeState]
  public static let example = MethodExample(
    ["instance": "front-desk"],
    result: [
      "pushes": [
        [
          "id": "p-455a8cb4-4f5c-419d-9e64-9e19ea6bd140",
          "address": "…0815",
          "user": MethodExample.user,
          "orphaned": false,
          "createdAt": "2026-11-24T08:42:35.272Z",
        ]
      ]
    ])

  /// The params of `push.list`.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID
    /// The maximum number of registrations: 1 to 64; 64 unless given.
    public var limit: Int?
    /// The id of the registration after which the page begins.
    public var after: String?

    /// Creates params with these members.
    public init(instance: InstanceID, limit: Int? = nil, after: String? = nil) {
      self.instance = instance
      self.limit = limit
      self.after = after
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .optional("limit", .integer(minimum: 1, maximum: 64), "how many at most"),
      .optional("after", .string(), "only registrations after this one"),
    ])
  }

  /// A push registration.
  public struct Push: RPCValue, Hashable {
    public var id: String
    public var service: String?
    public var address: String
    public var user: User
    public var orphaned: Bool
    public var createdAt: Timestamp

    /// Creates a registration. `address` is the masked address.
    public init(id: String, service: String?, address: String, user: User, orphaned: Bool, createdAt: Timestamp) {
      self.id = id
      self.service = service
      self.address = address
      self.user = user
      self.orphaned = orphaned
      self.createdAt = createdAt
    }

    public static let jsonSchema = JSONSchema.named(
      "Push",
      .object([
        .required("id", .string(), "the registration's id"),
        .optional("service", .string(), "the service, for kinds that have several"),
        .required("address", .string(), "the device's address, masked"),
        .required("user", User.jsonSchema, "whose it is"),
        .required("orphaned", .boolean, "whether it is still at the vendor although its user is gone from here"),
        .required("createdAt", Timestamp.jsonSchema, "when it was made"),
      ]))
  }

  /// The result of `push.list`.
  public struct Result: RPCValue {
    /// The registrations, oldest first.
    public var pushes: [Push]
    /// The value to pass as `after` for the next page; `nil` on the last page.
    public var next: String?

    /// Creates a result with these members.
    public init(pushes: [Push], next: String? = nil) {
      self.pushes = pushes
      self.next = next
    }

    public static let jsonSchema = JSONSchema.object([
      .required("pushes", .array(Push.jsonSchema), "the registrations, oldest first"),
      .optional("next", .string(), "where the next page begins; absent on the last"),
    ])
  }
}
