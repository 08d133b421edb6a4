public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// `serviceChat.registerForPushNotifications`: registers a device for a service's user (the vendor's guide, "Authentication
/// Settings").
public enum ServiceChatRegisterForPushNotifications: SDKMethod {
  public static let name = "serviceChat.registerForPushNotifications"
  public static let summary = "Registers a device for push messages to a service's user."
  public static let documentation = """
    The same as push.register for one service. A service has one registration: a new one removes the former. It ends
    with its user.
    """
  public static let access = MethodAccess.role(.control)
  public static let ordering = MethodOrdering.write(waits: true)
  public static let concern = MethodConcern.push
  public static let kind: KindName? = .salesforceChat
  public static let errors: [DeclaredError] = [
    .credentialState, .credential, .unreachable, .provider, .storageFull,
    .serviceChatVendor,
  ]
  public static let example = MethodExample(
    [
      "instance": "cases",
      "service": "cases",
      "endpoint": ["address": "fcm-address-of-the-device-0815", "type": "fcm"],
    ],
    result: ["id": "p-151b0efa-92ac-4152-a638-cff516c42efa"])

  /// The parameters of a call.
  public struct Params: RPCValue, InstanceParams {
    /// The instance.
    public var instance: InstanceID
    /// The service.
    public var service: String
    /// The device.
    public var endpoint: PushEndpoint

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .required("service", .string(), "cases, knowledge or chat"),
      .required("endpoint", PushEndpoint.jsonSchema, "the device"),
    ])
  }

  public typealias Result = PushRegister.Result
}

extension DeclaredError {
  /// The errors of requests that Salesforce refused.
  static let serviceChatVendor = DeclaredError(
    "serviceChatVendor", .vendor, [.invalidAuth, .invalidGrant, .invalidClient, .forbidden, .notFound])
}
