public import JSONRPC

/// `storage.list`: returns the keys that the app has stored.
public enum StorageList: SDKMethod {
  public static let name = "storage.list"
  public static let summary = "The keys that the app has stored."
  public static let documentation = """
    Keys with the size of each value in bytes. Pages of at most `limit` keys (1,000, fewer when they are long), each
    page sorted; `next` is the key to give as `after` for the next page. The order of the pages is the daemon's own.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.read
  public static let errors: [DeclaredError] = [.storageState]
  public static let example = MethodExample(
    ["instance": "front-desk"],
    result: ["keys": [["key": "draft", "bytes": 16]], "storageEpoch": "a694a686-0"])

  /// The params of `storage.list`.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID
    /// The expected storage epoch. The call fails with `epochChanged` if the epoch is no longer current.
    public var storageEpoch: String?
    /// The maximum number of keys: 1 to 1,000; 1,000 unless given.
    public var limit: Int?
    /// The `next` of the previous page; the first page unless given.
    public var after: String?

    /// Creates params with these members.
    public init(instance: InstanceID, storageEpoch: String? = nil, limit: Int? = nil, after: String? = nil) {
      self.instance = instance
      self.storageEpoch = storageEpoch
      self.limit = limit
      self.after = after
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .optional("storageEpoch", .string(), "refuse with epochChanged when the user has changed since"),
      .optional("limit", .integer(minimum: 1, maximum: 1000), "how many at most"),
      .optional("after", .string(), "the next of the page before"),
    ])
  }

  /// The result of `storage.list`.
  public struct Result: RPCValue {
    /// The keys of the page, sorted.
    public var keys: [Entry]
    /// The storage epoch that the keys belong to.
    public var storageEpoch: String
    /// The value to pass as `after` for the next page; `nil` on the last page.
    public var next: String?

    /// Creates a result with these members.
    public init(keys: [Entry], storageEpoch: String, next: String? = nil) {
      self.keys = keys
      self.storageEpoch = storageEpoch
      self.next = next
    }

    public static let jsonSchema = JSONSchema.object([
      .required("keys", .array(Entry.jsonSchema), "the keys of the page, sorted"),
      .required("storageEpoch", .string(), "the epoch they belong to"),
      .optional("next", .string(), "where the next page begins; absent on the last"),
    ])
  }

  /// A key and the size of its value.
  public struct Entry: RPCValue {
    /// The key.
    public var key: String
    /// The bytes of the value as JSON text.
    public var bytes: Int

    /// Creates an entry.
    public init(key: String, bytes: Int) {
      self.key = key
      self.bytes = bytes
    }

    public static let jsonSchema = JSONSchema.named(
      "StorageEntry",
      .object([
        .required("key", .string(), "the key"), .required("bytes", .integer(minimum: 0), "the size of its value"),
      ]))
  }
}
