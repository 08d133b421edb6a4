public import JSONRPC

/// `daemon.backup`: makes a backup of the state.
public enum DaemonBackup: SDKMethod {
  public static let name = "daemon.backup"
  public static let summary = "Makes a consistent copy of the state while it is in use."
  public static let documentation = """
    The backup lies in `backups/` below the directory of the state, as NAME.db, and `sdkctl restore` puts it in the state's
    place. One without a name is the daemon's own: it counts for `[backup] keep`, and makes room for newer ones. Keys that
    a wipe, a logout or a deletion destroys are destroyed in all backups too. On a full disk no half backup stays.
    """
  public static let access = MethodAccess.role(.admin)
  public static let ordering = MethodOrdering.read
  public static let example = MethodExample(
    ["name": "before-upgrade"],
    result: ["name": "before-upgrade", "bytes": 77824, "createdAt": "2026-11-24T08:42:35.272Z"])

  /// The params of `daemon.backup`.
  public struct Params: RPCValue {
    /// The name of the backup. A backup without a name gets an automatic one and counts for `[backup] keep`.
    public var name: String?

    /// Creates params with these members.
    public init(name: String? = nil) { self.name = name }

    public static let jsonSchema = JSONSchema.object([
      .optional(
        "name", .string(pattern: "^[a-z0-9._-]{1,64}$"),
        "what the backup is to be called: up to 64 of a-z, 0-9, dot, underscore and hyphen, not beginning with auto-")
    ])
  }

  /// The result of `daemon.backup`.
  public struct Result: RPCValue {
    /// The name of the backup.
    public var name: String
    /// The size of the backup in bytes.
    public var bytes: Int
    /// The time whose state the backup holds.
    public var createdAt: Timestamp

    /// Creates a result with these members.
    public init(name: String, bytes: Int, createdAt: Timestamp) {
      self.name = name
      self.bytes = bytes
      self.createdAt = createdAt
    }

    public static let jsonSchema = JSONSchema.object([
      .required("name", .string(), "what the backup is called"),
      .required("bytes", .integer(minimum: 0), "its size"),
      .required("createdAt", Timestamp.jsonSchema, "the moment whose state it holds"),
    ])
  }
}
