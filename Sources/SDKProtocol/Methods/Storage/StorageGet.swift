public import JSONRPC

/// `storage.get`: reads a value of the app.
public enum StorageGet: SDKMethod {
  public static let name = "storage.get"
  public static let summary = "Reads a value of the app."
  public static let documentation = """
    The value of a key, `null` when there is none.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.read

  /// What the caller sends.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID
    /// 1 to 128 printable characters.
    public var key: String
    /// Refuse with epochChanged when the user has changed since.
    public var storageEpoch: String?

    /// Each member by name.
    public init(instance: InstanceID, key: String, storageEpoch: String? = nil) {
      self.instance = instance
      self.key = key
      self.storageEpoch = storageEpoch
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .required("key", .string(), "1 to 128 printable characters"),
      .optional("storageEpoch", .string(), "refuse with epochChanged when the user has changed since"),
    ])
  }

  /// What the caller gets.
  public struct Result: RPCValue {
    /// The value; null when there is none.
    public var value: JSON
    /// The epoch it belongs to.
    public var storageEpoch: String

    /// Each member by name.
    public init(value: JSON, storageEpoch: String) {
      self.value = value
      self.storageEpoch = storageEpoch
    }

    public static let jsonSchema = JSONSchema.object([
      .required("value", .any, "the value; null when there is none"),
      .required("storageEpoch", .string(), "the epoch it belongs to"),
    ])
  }
}
