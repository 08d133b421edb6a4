public import JSONRPC

/// `storage.put`: stores a value of the app.
public enum StoragePut: SDKMethod {
  public static let name = "storage.put"
  public static let summary = "Keeps a value of the app."
  public static let documentation = """
    Keeps any JSON up to 32 KiB under a key, sealed, until the identity is wiped; 1 MiB an instance. Durable
    when answered. Errors: storageFull, epochChanged.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.write(waits: true)
  public static let errors: [DeclaredError] = [.storageState, .storageFull]
  public static let takesLargeFrames = true
  public static let example = MethodExample(
    ["instance": "front-desk", "key": "draft", "value": ["text": "Hello"]])
  /// The params of `storage.put`.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID
    /// The key: 1 to 128 printable characters.
    public var key: String
    /// The value: any JSON up to 32 KiB.
    public var value: JSON
    /// The expected storage epoch. The call fails with `epochChanged` if the epoch is no longer current.
    public var storageEpoch: String?

    /// Creates params with these members.
    public init(instance: InstanceID, key: String, value: JSON, storageEpoch: String? = nil) {
      self.instance = instance
      self.key = key
      self.value = value
      self.storageEpoch = storageEpoch
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .required("key", .storageKey, "1 to 128 printable characters"),
      .required("value", .any, "any JSON up to 32 KiB"),
      .optional("storageEpoch", .string(), "refuse with epochChanged when the user has changed since"),
    ])
  }

  public typealias Result = Empty
}
