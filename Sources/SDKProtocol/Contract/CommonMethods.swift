public import JSONRPC

/// The methods, notifications and requests of every kind. Kinds add methods of their own.
public enum CommonMethods {
  /// The methods that every kind has. Tests ensure that each has a unique name, a handler, a role and documentation.
  public static let all: [any SDKMethod.Type] = [
    RPCDiscover.self, DaemonInfo.self, DaemonHealth.self, DaemonMetrics.self, DaemonReload.self,
    DaemonSetLogLevel.self, DaemonBackup.self, DaemonRotateKey.self,
    InstanceCreate.self, InstanceList.self, InstanceGet.self, InstanceUpdate.self, InstanceDelete.self,
    InstanceCurrentUser.self,
    SessionOpen.self, TokenGet.self, TokenRefresh.self, TokenReject.self,
    EventsSubscribe.self, EventsUnsubscribe.self, EventsResume.self, EventsList.self,
    DelegateAttach.self, DelegateDetach.self,
    StorageGet.self, StoragePut.self, StorageDelete.self, StorageList.self,
    PushRegister.self, PushUnregister.self, PushList.self,
  ]

  /// The notifications that the daemon sends.
  public static let notifications: [any RPCNotification.Type] = [
    EventsEvent.self, EventsGap.self, DaemonClosing.self,
  ]

  /// The requests that the daemon sends to connections attached with `delegate.attach`.
  public static let requests: [any RPCMethod.Type] = [
    DelegateGetToken.self, DelegateInvalidAuth.self, DelegateShouldAuthenticate.self,
    DelegateAuthenticationFailed.self,
  ]
}
