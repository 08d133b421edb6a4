public import JSONRPC

/// `daemon.backup`: makes a copy of the state.
public enum DaemonBackup: SDKMethod {
  public static let name = "daemon.backup"
  public static let summary = "Makes a consistent copy of the state while it is in use."
  public static let documentation = """
    The copy lies in `backups/` below the directory of the state, as NAME.db, and `sdkctl restore` puts it in the state's
    place. One without a name is the daemon's own: it counts for `[backup] keep`, and makes room for newer ones. Keys that
    a wipe, a logout or a deletion destroys are destroyed in all copies too. On a full disk no half copy stays.
    """
  public static let access = MethodAccess.role(.admin)
  public static let ordering = MethodOrdering.read

  /// What is asked for.
  public struct Params: RPCValue {
    /// What the copy is to be called.
    public var name: String?

    /// Each member by name.
    public init(name: String? = nil) { self.name = name }

    public static let jsonSchema = JSONSchema.object([
      .optional(
        "name", .string(),
        "what the copy is to be called: up to 64 of a-z, 0-9, dot, underscore and hyphen, not beginning with auto-")
    ])
  }

  /// What the caller gets.
  public struct Result: RPCValue {
    /// What the copy is called.
    public var name: String
    /// Its size.
    public var bytes: Int
    /// The moment whose state it holds.
    public var createdAt: Timestamp

    /// Each member by name.
    public init(name: String, bytes: Int, createdAt: Timestamp) {
      self.name = name
      self.bytes = bytes
      self.createdAt = createdAt
    }

    public static let jsonSchema = JSONSchema.object([
      .required("name", .string(), "what the copy is called"),
      .required("bytes", .integer(minimum: 0), "its size"),
      .required("createdAt", Timestamp.jsonSchema, "the moment whose state it holds"),
    ])
  }
}
