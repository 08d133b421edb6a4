public import JSONRPC

/// The answer to `authenticationFailed`.
public struct DelegateGuestAnswer: RPCValue, Hashable {
  /// Whether to go on: `true` asks for settings again, `false` goes on as a guest.
  public var proceed: Bool?
  /// `true` passes the question on; then nothing else is there.
  public var isDeferred: Bool?

  private enum CodingKeys: String, CodingKey {
    case proceed
    case isDeferred = "defer"
  }

  /// Each member by name.
  public init(proceed: Bool? = nil, isDeferred: Bool? = nil) {
    self.proceed = proceed
    self.isDeferred = isDeferred
  }

  public static let jsonSchema = JSONSchema.object([
    .optional("proceed", .boolean, "true asks for settings again, false goes on as a guest"),
    .optional("defer", .boolean, "true passes the question on"),
  ])
}
