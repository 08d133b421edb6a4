public import JSONRPC

/// `daemon.setLogLevel`: changes the level of the journal for a while.
public enum DaemonSetLogLevel: SDKMethod {
  public static let name = "daemon.setLogLevel"
  public static let summary = "Changes the level of the journal for a while."
  public static let documentation = """
    The daemon writes messages of this level and above until the time has passed. Then it returns to the configured level,
    `[log] level`. So it does after a restart, after a reload that changes the configured level, and at once when `level` is missing. A
    later call replaces the former one. `daemon.info` shows the level to admins. Levels do not apply to audit records.
    """
  public static let access = MethodAccess.role(.admin)
  public static let ordering = MethodOrdering.write(waits: false)
  public static let needsState = false
  public static let example = MethodExample(
    ["level": "debug", "seconds": 600],
    result: ["level": "debug", "configured": "info", "until": "2026-11-24T08:52:35.272Z"])

  /// The longest time, in seconds: a day.
  public static let maximumSeconds = 86_400

  /// The params of `daemon.setLogLevel`.
  public struct Params: RPCValue {
    /// The level; `nil` restores the configured one.
    public var level: LogLevel?
    /// The time in seconds after which the configured level is restored; `nil` for 600.
    public var seconds: Int?

    /// Creates params with these members.
    public init(level: LogLevel? = nil, seconds: Int? = nil) {
      self.level = level
      self.seconds = seconds
    }

    public static let jsonSchema = JSONSchema.object([
      .optional("level", LogLevel.jsonSchema, "the level; without it the configured one is restored"),
      .optional(
        "seconds", .integer(minimum: 1, maximum: maximumSeconds),
        "after how many seconds the configured level is restored; 600"),
    ])
  }

  public typealias Result = JournalLevel
}

/// A level of the journal, from the most verbose to the least.
public enum LogLevel: String, RPCValue, CaseIterable {
  case trace, debug, info, notice, warning, error, critical

  public static let jsonSchema = JSONSchema.enumeration(allCases.map(\.rawValue))
}

/// The level of the journal, and how long it applies.
public struct JournalLevel: RPCValue, Hashable {
  /// The level in force: messages of this level and above are written.
  public var level: LogLevel
  /// The level in the configuration.
  public var configured: LogLevel
  /// The time at which the configured level is restored; `nil` while it is in force.
  public var until: Timestamp?

  /// Creates a level with these members.
  public init(level: LogLevel, configured: LogLevel, until: Timestamp? = nil) {
    self.level = level
    self.configured = configured
    self.until = until
  }

  public static let jsonSchema = JSONSchema.named(
    "JournalLevel",
    .object([
      .required("level", LogLevel.jsonSchema, "the level in force: messages of this level and above are written"),
      .required("configured", LogLevel.jsonSchema, "the level in the configuration"),
      .optional("until", Timestamp.jsonSchema, "when the configured level is restored, unless that is in force"),
    ]))
}
