public import JSONRPC

/// `storage.delete`: removes a value of the app.
public enum StorageDelete: SDKMethod {
  public static let name = "storage.delete"
  public static let summary = "Removes a value of the app."
  public static let documentation = """
    Removes a key; one that is not there is fine.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.write(waits: true)
  public static let errors: [DeclaredError] = [.storageState]
  public static let example = MethodExample(
    ["instance": "front-desk", "key": "draft"])

  /// The params of `storage.delete`.
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

  public typealias Result = Empty
}
