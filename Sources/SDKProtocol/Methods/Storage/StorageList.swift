public import JSONRPC

/// `storage.list`: the keys that the app has stored.
public enum StorageList: SDKMethod {
  public static let name = "storage.list"
  public static let summary = "The keys that the app has stored."
  public static let documentation = """
    Keys with the size of each value in bytes. Pages of at most `limit` keys (1,000, fewer when they are long), each
    page sorted; `next` is the key to give as `after` for the next page. The order of the pages is the daemon's own.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.read

  /// What the caller sends.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID
    /// Refuse with epochChanged when the user has changed since.
    public var storageEpoch: String?
    /// How many at most.
    public var limit: Int?
    /// The page after this key.
    public var after: String?

    /// Each member by name.
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

  /// What the caller gets.
  public struct Result: RPCValue {
    /// The keys of the page, sorted.
    public var keys: [Entry]
    /// The epoch they belong to.
    public var storageEpoch: String
    /// Where the next page begins; absent on the last.
    public var next: String?

    /// Each member by name.
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

  /// One key.
  public struct Entry: RPCValue {
    /// The key.
    public var key: String
    /// The size of its value as JSON text.
    public var bytes: Int

    /// A key and the size of its value.
    public init(key: String, bytes: Int) {
      self.key = key
      self.bytes = bytes
    }

    public static let jsonSchema = JSONSchema.object([
      .required("key", .string(), "the key"), .required("bytes", .integer(minimum: 0), "the size of its value"),
    ])
  }
}
