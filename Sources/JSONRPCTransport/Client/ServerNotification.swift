public import JSONRPC

/// A notification that the daemon sent.
public struct ServerNotification: Sendable, Hashable {
  /// The method's name.
  public let method: String
  /// The params; `nil` if there are none.
  public let params: JSON?

  /// Makes a notification.
  public init(method: String, params: JSON?) {
    self.method = method
    self.params = params
  }
}
