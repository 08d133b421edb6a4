public import JSONRPC

/// A device that receives push messages.
public struct PushEndpoint: RPCValue, Hashable {
  /// The type of a device's push service.
  public enum ServiceType: String, Sendable, Codable, DescribedEnumeration {
    case apns, fcm, other

    public static let jsonSchema = schema(named: "PushServiceType")
    public var meaning: String {
      switch self {
      case .apns: "Apple Push Notification service."
      case .fcm: "Firebase Cloud Messaging."
      case .other: "Another push service that the vendor knows."
      }
    }
  }

  /// The device's address with its push service: a secret.
  public var address: Secret
  /// The type of the device's push service.
  public var type: ServiceType
  /// The device's language, such as `de-DE`.
  public var locale: String?

  /// Creates a device.
  public init(address: Secret, type: ServiceType, locale: String? = nil) {
    self.address = address
    self.type = type
    self.locale = locale
  }

  public static let jsonSchema = JSONSchema.named(
    "PushEndpoint",
    .object([
      .required("address", .string(), "the device's address with its push service: a secret"),
      .required("type", ServiceType.jsonSchema, "whose push service it is"),
      .optional("locale", .string(), "the device's language"),
    ]))

  /// Returns an ellipsis and the last four characters of an address, which distinguish devices. An address of at most
  /// eight characters gives the ellipsis alone.
  public static func masked(_ address: Secret) -> String {
    let text = address.reveal()
    return text.count > 8 ? "…\(text.suffix(4))" : "…"
  }
}
