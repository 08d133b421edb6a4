public import JSONRPC

/// The response to `delegate.authenticationFailed`.
public struct DelegateGuestAnswer: RPCValue, Hashable {
  /// Whether to authenticate again: `true` requests new settings, `false` makes the user a guest.
  public var proceed: Bool?
  /// Whether the question is passed to the next delegate or the provider. If `true`, no other member is present.
  public var isDeferred: Bool?

  private enum CodingKeys: String, CodingKey {
    case proceed
    case isDeferred = "defer"
  }

  /// Creates a response with these members.
  public init(proceed: Bool? = nil, isDeferred: Bool? = nil) {
    self.proceed = proceed
    self.isDeferred = isDeferred
  }

  public static let jsonSchema = JSONSchema.named(
    "DelegateGuestAnswer",
    .object([
      .optional("proceed", .boolean, "true asks for settings again, false goes on as a guest"),
      .optional("defer", .boolean, "true passes the question on"),
    ]))
}
