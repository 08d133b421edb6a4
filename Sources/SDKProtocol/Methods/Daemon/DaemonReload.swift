public import JSONRPC

/// `daemon.reload`: reads the configuration on disk and applies it.
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
  public static let errors: [DeclaredError] = [
    DeclaredError("configuration", .store, [.invalidConfiguration, .storeUnavailable, .keyMissing])
  ]
  public static let needsState = false
  public static let example = MethodExample(
    result: [
      "added": [],
      "changed": [],
      "removed": [],
      "unchanged": [],
      "counts": ["added": 0, "changed": 0, "removed": 0, "unchanged": 0],
      "problems": [],
    ])

  public typealias Params = Empty

  /// The effect of a reload on the instances from files.
  public struct Result: RPCValue {
    /// The new instances.
    public var added: [InstanceID]
    /// The changed instances.
    public var changed: [InstanceID]
    /// The removed instances.
    public var removed: [InstanceID]
    /// The unchanged instances.
    public var unchanged: [InstanceID]
    /// The number of instances in each category, including those that the lists omit.
    public var counts: Counts
    /// The problems with parts of the configuration that could not be applied; at most 50.
    public var problems: [Problem]

    /// The maximum number of instances in a list.
    static let longestList = 500

    /// Creates the result of a reload. Counts the full lists, then cuts them to `longestList`.
    public init(
      added: [InstanceID], changed: [InstanceID], removed: [InstanceID], unchanged: [InstanceID], problems: [Problem]
    ) {
      counts = Counts(
        added: added.count, changed: changed.count, removed: removed.count, unchanged: unchanged.count)
      self.added = Array(added.prefix(Self.longestList))
      self.changed = Array(changed.prefix(Self.longestList))
      self.removed = Array(removed.prefix(Self.longestList))
      // Cut the unchanged instances first: readers look for the other lists.
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

  /// The numbers of instances that a reload added, changed, removed and left unchanged.
  public struct Counts: RPCValue {
    /// The number of new instances.
    public var added: Int
    /// The number of changed instances.
    public var changed: Int
    /// The number of removed instances.
    public var removed: Int
    /// The number of unchanged instances.
    public var unchanged: Int

    /// Creates counts with these members.
    public init(added: Int, changed: Int, removed: Int, unchanged: Int) {
      self.added = added
      self.changed = changed
      self.removed = removed
      self.unchanged = unchanged
    }

    public static let jsonSchema = JSONSchema.named(
      "ReloadCounts",
      .object([
        .required("added", .integer(minimum: 0), "new ones"),
        .required("changed", .integer(minimum: 0), "changed ones"),
        .required("removed", .integer(minimum: 0), "those that are gone"),
        .required("unchanged", .integer(minimum: 0), "those that are as they were"),
      ]))
  }

  /// A problem with a part of the configuration that could not be applied.
  public struct Problem: RPCValue {
    /// The instance that the problem is about, if any.
    public var instance: InstanceID?
    /// The configuration key that the problem is about, if any.
    public var key: String?
    /// The message: what happened and what to do.
    public var message: String

    /// Creates a problem with these members.
    public init(instance: InstanceID? = nil, key: String? = nil, message: String) {
      self.instance = instance
      self.key = key
      self.message = message
    }

    public static let jsonSchema = JSONSchema.named(
      "ReloadProblem",
      .object([
        .optional("instance", InstanceID.jsonSchema, "the instance, if it is about one"),
        .optional("key", .string(), "the key of the configuration, if it is about one"),
        .required("message", .string(), "what happened and what to do"),
      ]))
  }
}
