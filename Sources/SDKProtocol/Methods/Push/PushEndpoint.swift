public import JSONRPC

/// A device that gets push messages.
public struct PushEndpoint: RPCValue, Hashable {
  /// Whose push service it is.
  public enum ServiceType: String, Sendable, Codable, CaseIterable { case apns, fcm, other }

  /// The device's address with its push service: a secret.
  public var address: Secret
  /// Whose push service it is.
  public var type: ServiceType
  /// The device's language, such as `de-DE`.
  public var locale: String?

  /// A device.
  public init(address: Secret, type: ServiceType, locale: String? = nil) {
    self.address = address
    self.type = type
    self.locale = locale
  }

  public static let jsonSchema = JSONSchema.named(
    "PushEndpoint",
    .object([
      .required("address", .string(), "the device's address with its push service: a secret"),
      .required("type", .enumeration(ServiceType.allCases.map(\.rawValue)), "whose push service it is"),
      .optional("locale", .string(), "the device's language"),
    ]))

  /// The last four characters of an address, enough to tell two devices apart.
  public static func masked(_ address: Secret) -> String {
    let text = address.reveal()
    return text.count > 8 ? "…\(text.suffix(4))" : "…"
  }
}
