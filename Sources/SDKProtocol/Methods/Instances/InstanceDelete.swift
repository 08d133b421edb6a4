public import JSONRPC

/// `instance.delete`: deletes an instance and all that it stores.
public enum InstanceDelete: SDKMethod {
  public static let name = "instance.delete"
  public static let summary = "Deletes an instance and all that it stores."
  public static let documentation = """
    Everything that the instance stores is destroyed. With `logout` the vendor session ends first, and if
    that fails the call fails and the instance stays.
    """
  public static let access = MethodAccess.role(.owner)
  public static let ordering = MethodOrdering.write(waits: false)
  public static let errors: [DeclaredError] = [
    DeclaredError("deletionState", .state, [.ownedByFile, .superseded]), .vendor, .unreachable, .provider,
  ]
  public static let example = MethodExample(
    ["instance": "front-desk", "logout": true])

  /// The params of `instance.delete`.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID
    /// Whether to end the vendor session first. If that fails, the instance stays.
    public var logout: Bool?

    /// Creates params with these members.
    public init(instance: InstanceID, logout: Bool? = nil) {
      self.instance = instance
      self.logout = logout
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .optional("logout", .boolean, "end the vendor session first"),
    ])
  }

  public typealias Result = Empty
}
