public import JSONRPC

/// A notification that the daemon sent.
public struct ServerNotification: Sendable, Hashable {
  /// The method's name.
  public let method: String
  /// What it carries.
  public let params: JSON?

  /// A notification with these parts.
  public init(method: String, params: JSON?) {
    self.method = method
    self.params = params
  }
}
