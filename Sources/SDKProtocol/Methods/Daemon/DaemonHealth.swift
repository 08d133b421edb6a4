public import JSONRPC

/// `daemon.health`: returns the daemon's health.
public enum DaemonHealth: SDKMethod {
  public static let name = "daemon.health"
  public static let summary = "How this daemon is."
  public static let documentation = """
    `ok` when everything works, `degraded` when something doesn't but calls are served, `failing` when state
    can't be read or written. Details tell of instances that the caller can see, and of no others.
    """
  public static let access = MethodAccess.anyone
  public static let ordering = MethodOrdering.free
  public static let needsState = false
  public static let example = MethodExample(
    result: [
      "status": "ok",
      "checks": [
        ["name": "store", "status": "ok"],
        ["name": "configuration", "status": "ok"],
        ["name": "key", "status": "ok", "detail": "root.key"],
        ["name": "backup", "status": "ok", "detail": "no backup yet"],
        ["name": "instances", "status": "ok"],
      ],
    ])

  public typealias Params = Empty

  /// The result of `daemon.health`.
  public struct Result: RPCValue {
    /// The worst status of the checks.
    public var status: Status
    /// The checks that were made.
    public var checks: [Check]

    /// Creates a result with these members.
    public init(status: Status, checks: [Check]) {
      self.status = status
      self.checks = checks
    }

    public static let jsonSchema = JSONSchema.object([
      .required("status", Status.jsonSchema, "the worst of the checks"),
      .required("checks", .array(Check.jsonSchema), "what was looked at"),
    ])
  }

  /// A health check and its result.
  public struct Check: RPCValue {
    /// The name of the check, such as `store`.
    public var name: String
    /// The status that the check found.
    public var status: Status
    /// The details; `nil` if the caller may not see them.
    public var detail: String?

    /// Creates a check with its result.
    public init(name: String, status: Status, detail: String? = nil) {
      self.name = name
      self.status = status
      self.detail = detail
    }

    public static let jsonSchema = JSONSchema.named(
      "Check",
      .object([
        .required("name", .string(), "what was looked at"),
        .required("status", Status.jsonSchema, "how it is"),
        .optional("detail", .string(), "more, for those who may see it"),
      ]))
  }

  /// The health of the daemon or of a part of it, from best to worst.
  public enum Status: String, Codable, Sendable, Comparable, DescribedEnumeration {
    case ok, degraded, failing

    public static let jsonSchema = schema(named: "HealthStatus")
    public var meaning: String {
      switch self {
      case .ok: "Everything works."
      case .degraded: "Something does not work, but calls are served."
      case .failing: "State can't be read or written."
      }
    }
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    public static func < (one: Status, other: Status) -> Bool { one.rank < other.rank }
  }
}
