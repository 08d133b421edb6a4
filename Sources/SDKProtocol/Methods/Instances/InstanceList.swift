public import JSONRPC

/// `instance.list`: returns the instances that the caller can see.
public enum InstanceList: SDKMethod {
  public static let name = "instance.list"
  public static let summary = "The instances that the caller can see."
  public static let documentation = """
    Instances by id, those that the caller can observe and that match all filters. Pages of at most `limit`
    (50, at most 200, fewer when they are large); `next` is the id to give as `after` for the next page. Admins also
    get the quarantined instances, of which only `instance`, `state`, `lastError` and `createdAt` say something.
    With `counts` no instance is listed: `counts` in the result has the number of those that match, by state.
    """
  public static let access = MethodAccess.anyone
  public static let ordering = MethodOrdering.read
  public static let example = MethodExample(
    ["labels": ["floor": "1"]],
    result: ["instances": [MethodExample.instance]])

  /// The params of `instance.list`.
  public struct Params: RPCValue {
    /// The labels that an instance must all have.
    public var labels: [String: String]?
    /// The kind of the instances; any unless given.
    public var kind: KindName?
    /// The state of the instances; any unless given.
    public var state: InstanceState?
    /// The maximum number of instances: 1 to 200; 50 unless given.
    public var limit: Int?
    /// The id after which the page begins.
    public var after: InstanceID?
    /// Whether to count the instances in place of listing them.
    public var counts: Bool?

    /// Creates params with these members.
    public init(
      labels: [String: String]? = nil, kind: KindName? = nil, state: InstanceState? = nil, limit: Int? = nil,
      after: InstanceID? = nil, counts: Bool? = nil
    ) {
      self.labels = labels
      self.kind = kind
      self.state = state
      self.limit = limit
      self.after = after
      self.counts = counts
    }

    public static let jsonSchema = JSONSchema.object([
      .optional("labels", .map(.string(), atMost: 64), "only those with all of these labels"),
      .optional("kind", KindName.jsonSchema, "only this kind"),
      .optional("state", InstanceState.jsonSchema, "only those in this state"),
      .optional("limit", .integer(minimum: 1, maximum: 200), "how many at most"),
      .optional("after", InstanceID.jsonSchema, "only ids after this one"),
      .optional("counts", .boolean, "whether to count them in place of listing them"),
    ])
  }

  /// The result of `instance.list`.
  public struct Result: RPCValue {
    /// The instances, sorted by id.
    public var instances: [Instance]
    /// The value to pass as `after` for the next page; `nil` on the last page.
    public var next: InstanceID?
    /// The number of instances in each state that has any; `nil` unless `counts` was given.
    public var counts: [String: Int]?

    /// Creates a result with these members.
    public init(instances: [Instance], next: InstanceID? = nil, counts: [String: Int]? = nil) {
      self.instances = instances
      self.next = next
      self.counts = counts
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instances", .array(Instance.jsonSchema), "the instances, by id"),
      .optional("next", InstanceID.jsonSchema, "where the next page begins; absent on the last"),
      .optional("counts", .map(.integer(minimum: 1)), "how many instances there are in each state; only with `counts`"),
    ])
  }
}
