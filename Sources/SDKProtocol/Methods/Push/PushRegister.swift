public import JSONRPC

/// `push.register`: registers a device for push messages to the signed-in user.
public enum PushRegister: SDKMethod {
  public static let name = "push.register"
  public static let summary = "Registers a device for push messages to the signed-in user."
  public static let documentation = """
    The registration is made at the vendor and belongs to the instance's present user: it ends with their logout, or
    stays at the vendor and is listed as orphaned where the SDK leaves it there. The same address again replaces its
    registration. It needs a user, unlike the push token of the phone SDKs: without one it fails with notAuthenticated,
    noIdentity or userNotAuthorized, and the next user's device is registered again. A kind without a public contract
    for push, such as zendesk.chat, answers wrongKind.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.write(waits: true)
  public static let concern = MethodConcern.push
  public static let errors: [DeclaredError] = DeclaredError.ofCredentials + [.storageFull]
  public static let example = MethodExample(
    [
      "instance": "front-desk",
      "endpoint": ["address": "fcm-address-of-the-device-0815", "type": "fcm", "locale": "en"],
    ],
    result: ["id": "p-455a8cb4-4f5c-419d-9e64-9e19ea6bd140"])

  /// The params of `push.register`.
  public struct Params: RPCValue {
    public var instance: InstanceID
    public var service: String?
    public var endpoint: PushEndpoint

    /// Creates params with these members.
    public init(instance: InstanceID, service: String? = nil, endpoint: PushEndpoint) {
      self.instance = instance
      self.service = service
      self.endpoint = endpoint
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .required("endpoint", PushEndpoint.jsonSchema, "the device"),
      .optional("service", .string(), "the service, for kinds that have several"),
    ])
  }

  /// The result of `push.register`.
  public struct Result: RPCValue {
    /// The registration's id.
    public var id: String

    /// Creates a result with the registration's id.
    public init(id: String) { self.id = id }

    public static let jsonSchema = JSONSchema.named(
      "PushRegisterResult", .object([.required("id", .string(), "the registration's id")]))
  }
}

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
  public static let concern = MethodConcern.push
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
