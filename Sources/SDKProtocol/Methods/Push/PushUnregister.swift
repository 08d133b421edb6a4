public import JSONRPC

/// `push.unregister`: ends a registration.
public enum PushUnregister: SDKMethod {
  public static let name = "push.unregister"
  public static let summary = "Ends a registration for push messages."
  public static let documentation = """
    The vendor is told, and then the registration is forgotten. An orphaned one is only forgotten here: the vendor goes
    on sending to the device until its user signs in again or logs out there.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.write(waits: true)
  public static let errors: [DeclaredError] =
    DeclaredError.ofCredentials + [
      DeclaredError("pushNotFound", .missing, [.instanceNotFound, .notFound])
    ]
  public static let example = MethodExample(
    ["instance": "front-desk", "id": "p-455a8cb4-4f5c-419d-9e64-9e19ea6bd140"])

  /// The params of `push.unregister`.
  public struct Params: RPCValue {
    public var instance: InstanceID
    public var id: String

    /// Creates params with these members.
    public init(instance: InstanceID, id: String) {
      self.instance = instance
      self.id = id
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .required("id", .string(), "the registration, as push.register or push.list gave it"),
    ])
  }

  public typealias Result = Empty
}
