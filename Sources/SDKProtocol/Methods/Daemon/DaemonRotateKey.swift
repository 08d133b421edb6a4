public import JSONRPC

/// `daemon.rotateKey`: replaces the master key of the state.
public enum DaemonRotateKey: SDKMethod {
  public static let name = "daemon.rotateKey"
  public static let summary = "Replaces the master key of the state while it is in use."
  public static let documentation = """
    Makes a new master key and wraps every data key under it, in the state and in its backups. The former wrapped keys are
    in no file when it answers. A crash at any moment leaves all keys as they were or all of them replaced. The root key
    stays the same: `sdkctl key rotate --outer` replaces that one.
    """
  public static let access = MethodAccess.role(.admin)
  public static let ordering = MethodOrdering.write(waits: true)
  public static let example = MethodExample(
    result: ["rewrapped": 0])

  public typealias Params = Empty

  /// The result of `daemon.rotateKey`.
  public struct Result: RPCValue {
    /// The number of data keys that were wrapped under the new master key.
    public var rewrapped: Int

    /// Creates a result with these members.
    public init(rewrapped: Int) { self.rewrapped = rewrapped }

    public static let jsonSchema = JSONSchema.object([
      .required("rewrapped", .integer(minimum: 0), "how many data keys of instances and their pending deliveries")
    ])
  }
}
