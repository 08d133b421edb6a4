public import JSONRPC

/// `storage.put`: keeps a value of the app.
public enum StoragePut: SDKMethod {
  public static let name = "storage.put"
  public static let summary = "Keeps a value of the app."
  public static let documentation = """
    Keeps any JSON up to 32 KiB under a key, sealed, until the identity is wiped; 1 MiB an instance. Durable
    when answered. Errors: storageFull, epochChanged.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.write(waits: true)
  public static let takesLargeFrames = true
  /// What the caller sends.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID
    /// 1 to 128 printable characters.
    public var key: String
    /// Any JSON up to 32 KiB.
    public var value: JSON
    /// Refuse with epochChanged when the user has changed since.
    public var storageEpoch: String?

    /// Each member by name.
    public init(instance: InstanceID, key: String, value: JSON, storageEpoch: String? = nil) {
      self.instance = instance
      self.key = key
      self.value = value
      self.storageEpoch = storageEpoch
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .required("key", .string(), "1 to 128 printable characters"),
      .required("value", .any, "any JSON up to 32 KiB"),
      .optional("storageEpoch", .string(), "refuse with epochChanged when the user has changed since"),
    ])
  }

  public typealias Result = Empty
}
