public import JSONRPC

/// `instance.list`: the instances that the caller can see.
public enum InstanceList: SDKMethod {
  public static let name = "instance.list"
  public static let summary = "The instances that the caller can see."
  public static let documentation = """
    Instances by id, those that the caller can observe and that match all filters. Pages of at most `limit`
    (50, at most 200, fewer when they are large); `next` is the id to give as `after` for the next page. Admins also
    get the quarantined instances, of which only `instance`, `state`, `lastError` and `createdAt` say something.
    """
  public static let access = MethodAccess.anyone
  public static let ordering = MethodOrdering.read

  /// What the caller sends.
  public struct Params: RPCValue {
    /// Only those with all of these labels.
    public var labels: [String: String]?
    /// Only this kind.
    public var kind: KindName?
    /// Only those in this state.
    public var state: InstanceState?
    /// How many at most.
    public var limit: Int?
    /// Only ids after this one.
    public var after: InstanceID?

    /// Each member by name.
    public init(
      labels: [String: String]? = nil, kind: KindName? = nil, state: InstanceState? = nil, limit: Int? = nil,
      after: InstanceID? = nil
    ) {
      self.labels = labels
      self.kind = kind
      self.state = state
      self.limit = limit
      self.after = after
    }

    public static let jsonSchema = JSONSchema.object([
      .optional("labels", .map(.string(), atMost: 64), "only those with all of these labels"),
      .optional("kind", KindName.jsonSchema, "only this kind"),
      .optional("state", InstanceState.jsonSchema, "only those in this state"),
      .optional("limit", .integer(minimum: 1, maximum: 200), "how many at most"),
      .optional("after", InstanceID.jsonSchema, "only ids after this one"),
    ])
  }

  /// What the caller gets.
  public struct Result: RPCValue {
    /// The instances, by id.
    public var instances: [Instance]
    /// Where the next page begins; absent on the last.
    public var next: InstanceID?

    /// Each member by name.
    public init(instances: [Instance], next: InstanceID? = nil) {
      self.instances = instances
      self.next = next
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instances", .array(Instance.jsonSchema), "the instances, by id"),
      .optional("next", InstanceID.jsonSchema, "where the next page begins; absent on the last"),
    ])
  }
}
