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
  public static let errors: [DeclaredError] = [.storageState]
  public static let example = MethodExample(
    ["instance": "front-desk", "key": "draft"],
    result: ["value": ["text": "Hello"], "storageEpoch": "a694a686-0"])

  /// The params of `storage.get` and `storage.delete`.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID
    /// The key: 1 to 128 printable characters.
    public var key: String
    /// The expected storage epoch. The call fails with `epochChanged` if the epoch is no longer current.
    public var storageEpoch: String?

    /// Creates params with these members.
    public init(instance: InstanceID, key: String, storageEpoch: String? = nil) {
      self.instance = instance
      self.key = key
      self.storageEpoch = storageEpoch
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .required("key", .storageKey, "1 to 128 printable characters"),
      .optional("storageEpoch", .string(), "refuse with epochChanged when the user has changed since"),
    ])
  }

  /// The result of `storage.get`.
  public struct Result: RPCValue {
    /// The value; `null` if there is none.
    public var value: JSON
    /// The storage epoch that the value belongs to.
    public var storageEpoch: String

    /// Creates a result with these members.
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
