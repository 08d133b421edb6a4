public import JSONRPC

/// `daemon.info`: what this daemon is.
public enum DaemonInfo: SDKMethod {
  public static let name = "daemon.info"
  public static let summary = "What this daemon is."
  public static let documentation = """
    The daemon's name, version, version of the contract, process id, start, the kinds it hosts, the limits
    for callers other than admins, and how often it has been started on this state.
    """
  public static let access = MethodAccess.anyone
  public static let ordering = MethodOrdering.free

  public typealias Params = Empty

  /// What the caller gets.
  public struct Result: RPCValue {
    /// Sdkd.
    public var name: String
    /// The daemon's version.
    public var version: String
    /// The contract's version.
    public var apiVersion: String
    /// The process id.
    public var pid: Int
    /// When it started.
    public var startedAt: Timestamp
    /// The kinds of instance it hosts.
    public var kinds: [String]
    /// The limits for callers other than admins; durations in seconds.
    public var limits: [String: Double]
    /// How often it was started on this state before.
    public var restartCount: Int

    /// Each member by name.
    public init(
      name: String, version: String, apiVersion: String, pid: Int, startedAt: Timestamp, kinds: [String],
      limits: [String: Double], restartCount: Int
    ) {
      self.name = name
      self.version = version
      self.apiVersion = apiVersion
      self.pid = pid
      self.startedAt = startedAt
      self.kinds = kinds
      self.limits = limits
      self.restartCount = restartCount
    }

    public static let jsonSchema = JSONSchema.object([
      .required("name", .string(), "sdkd"),
      .required("version", .string(), "the daemon's version"),
      .required("apiVersion", .string(), "the contract's version"),
      .required("pid", .integer(), "the process id"),
      .required("startedAt", Timestamp.jsonSchema, "when it started"),
      .required("kinds", .array(.string()), "the kinds of instance it hosts"),
      .required("limits", .map(.number), "the limits for callers other than admins; durations in seconds"),
      .required("restartCount", .integer(minimum: 0), "how often it was started on this state before"),
    ])
  }
}
