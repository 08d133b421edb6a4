public import JSONRPC

/// The methods, notifications and requests of every kind. Kinds add methods of their own.
public enum CommonMethods {
  /// The notifications that the daemon sends.
  public static let notifications: [any RPCNotification.Type] = [
    EventsEvent.self, EventsGap.self, DaemonClosing.self,
  ]

  /// The requests that the daemon sends to connections attached with `delegate.attach`.
  public static let requests: [any DelegateRequest.Type] = [
    DelegateGetToken.self, DelegateInvalidAuth.self, DelegateShouldAuthenticate.self,
    DelegateAuthenticationFailed.self,
  ]
}
