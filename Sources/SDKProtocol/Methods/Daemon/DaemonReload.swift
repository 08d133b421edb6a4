public import JSONRPC

/// `daemon.reload`: puts the configuration in force that is on disk now.
public enum DaemonReload: SDKMethod {
  public static let name = "daemon.reload"
  public static let summary = "Reads the configuration again and puts it in force."
  public static let documentation = """
    All of it or, when there is a mistake anywhere, none of it: then the error is `invalidConfiguration`, its
    `mistakes` are `{file, line?, key?, message, nearest?}`, and the former configuration stays in force. Instances whose
    files have not changed are not touched. What is right and still could not be put in force, such as a port that is
    taken or a vendor that could not be told of a logout, is among the `problems`. Reloads follow one another. Lists
    are cut at 500 instances each; `counts` has the numbers.
    """
  public static let access = MethodAccess.role(.admin)
  public static let ordering = MethodOrdering.write(waits: true)

  public typealias Params = Empty

  /// What became of the instances of files.
  public struct Result: RPCValue {
    /// Those that are new.
    public var added: [InstanceID]
    /// Those that were changed.
    public var changed: [InstanceID]
    /// Those that are gone.
    public var removed: [InstanceID]
    /// Those that are as they were.
    public var unchanged: [InstanceID]
    /// How many of each.
    public var counts: Counts
    /// What could not be put in force.
    public var problems: [Problem]

    /// How many instances a list has.
    static let longestList = 500

    /// The outcome of a reload; the counts are those of the lists, which are cut.
    public init(
      added: [InstanceID], changed: [InstanceID], removed: [InstanceID], unchanged: [InstanceID], problems: [Problem]
    ) {
      counts = Counts(
        added: added.count, changed: changed.count, removed: removed.count, unchanged: unchanged.count)
      self.added = Array(added.prefix(Self.longestList))
      self.changed = Array(changed.prefix(Self.longestList))
      self.removed = Array(removed.prefix(Self.longestList))
      // The other lists are what somebody looks for.
      let rest = max(0, 2 * Self.longestList - self.added.count - self.changed.count - self.removed.count)
      self.unchanged = Array(unchanged.prefix(min(rest, Self.longestList)))
      self.problems = Array(problems.prefix(50))
    }

    public static let jsonSchema = JSONSchema.object([
      .required("added", .array(InstanceID.jsonSchema), "those that are new"),
      .required("changed", .array(InstanceID.jsonSchema), "those that were changed"),
      .required("removed", .array(InstanceID.jsonSchema), "those that are gone"),
      .required("unchanged", .array(InstanceID.jsonSchema), "those that are as they were"),
      .required("counts", Counts.jsonSchema, "how many of each, also of those that the lists leave out"),
      .required("problems", .array(Problem.jsonSchema), "what could not be put in force"),
    ])
  }

  /// How many instances of each sort.
  public struct Counts: RPCValue {
    /// New ones.
    public var added: Int
    /// Changed ones.
    public var changed: Int
    /// Those that are gone.
    public var removed: Int
    /// Those that are as they were.
    public var unchanged: Int

    /// Each member by name.
    public init(added: Int, changed: Int, removed: Int, unchanged: Int) {
      self.added = added
      self.changed = changed
      self.removed = removed
      self.unchanged = unchanged
    }

    public static let jsonSchema = JSONSchema.object([
      .required("added", .integer(minimum: 0), "new ones"),
      .required("changed", .integer(minimum: 0), "changed ones"),
      .required("removed", .integer(minimum: 0), "those that are gone"),
      .required("unchanged", .integer(minimum: 0), "those that are as they were"),
    ])
  }

  /// Something that could not be put in force.
  public struct Problem: RPCValue {
    /// The instance, if it is about one.
    public var instance: InstanceID?
    /// The key of the configuration, if it is about one.
    public var key: String?
    /// What happened and what to do.
    public var message: String

    /// Each member by name.
    public init(instance: InstanceID? = nil, key: String? = nil, message: String) {
      self.instance = instance
      self.key = key
      self.message = message
    }

    public static let jsonSchema = JSONSchema.object([
      .optional("instance", InstanceID.jsonSchema, "the instance, if it is about one"),
      .optional("key", .string(), "the key of the configuration, if it is about one"),
      .required("message", .string(), "what happened and what to do"),
    ])
  }
}
