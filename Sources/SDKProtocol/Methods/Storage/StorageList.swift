public import JSONRPC

/// `storage.list`: the keys that the app has stored.
public enum StorageList: SDKMethod {
  public static let name = "storage.list"
  public static let summary = "The keys that the app has stored."
  public static let documentation = """
    All keys, sorted, with the size of each value in bytes.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.read

  /// What the caller sends.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID
    /// Refuse with epochChanged when the user has changed since.
    public var storageEpoch: String?

    /// Each member by name.
    public init(instance: InstanceID, storageEpoch: String? = nil) {
      self.instance = instance
      self.storageEpoch = storageEpoch
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .optional("storageEpoch", .string(), "refuse with epochChanged when the user has changed since"),
    ])
  }

  /// What the caller gets.
  public struct Result: RPCValue {
    /// The keys, sorted.
    public var keys: [Entry]
    /// The epoch they belong to.
    public var storageEpoch: String

    /// Each member by name.
    public init(keys: [Entry], storageEpoch: String) {
      self.keys = keys
      self.storageEpoch = storageEpoch
    }

    public static let jsonSchema = JSONSchema.object([
      .required("keys", .array(Entry.jsonSchema), "the keys, sorted"),
      .required("storageEpoch", .string(), "the epoch they belong to"),
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
