public import JSONRPC

/// `daemon.health`: how this daemon is.
public enum DaemonHealth: SDKMethod {
  public static let name = "daemon.health"
  public static let summary = "How this daemon is."
  public static let documentation = """
    `ok` when everything works, `degraded` when something doesn't but calls are served, `failing` when state
    can't be read or written. Details tell of instances that the caller can see, and of no others.
    """
  public static let access = MethodAccess.anyone
  public static let ordering = MethodOrdering.free

  public typealias Params = Empty

  /// What the caller gets.
  public struct Result: RPCValue {
    /// The worst of the checks.
    public var status: Status
    /// What was looked at.
    public var checks: [Check]

    /// Each member by name.
    public init(status: Status, checks: [Check]) {
      self.status = status
      self.checks = checks
    }

    public static let jsonSchema = JSONSchema.object([
      .required("status", Status.jsonSchema, "the worst of the checks"),
      .required("checks", .array(Check.jsonSchema), "what was looked at"),
    ])
  }

  /// One thing that was looked at.
  public struct Check: RPCValue {
    /// What was looked at.
    public var name: String
    /// How it is.
    public var status: Status
    /// More, for those who may see it.
    public var detail: String?

    /// A finding.
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

  /// How well something is.
  public enum Status: String, Codable, Sendable, CaseIterable, Comparable, JSONSchemaRepresentable {
    case ok, degraded, failing

    public static let jsonSchema = JSONSchema.enumeration(allCases.map(\.rawValue))
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    public static func < (one: Status, other: Status) -> Bool { one.rank < other.rank }
  }
}
