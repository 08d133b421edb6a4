public import JSONRPC

/// The methods that every kind has; the kinds add their own.
public enum CommonMethods {
  /// One line a method. A test forbids two of one name and one without handler, role or documentation.
  public static let all: [any SDKMethod.Type] = [
    RPCDiscover.self, DaemonInfo.self, DaemonHealth.self, DaemonMetrics.self, DaemonReload.self,
    DaemonBackup.self, DaemonRotateKey.self,
    InstanceCreate.self, InstanceList.self, InstanceGet.self, InstanceUpdate.self, InstanceDelete.self,
    InstanceCurrentUser.self,
    SessionOpen.self, TokenGet.self, TokenRefresh.self, TokenReject.self,
    EventsSubscribe.self, EventsUnsubscribe.self, EventsResume.self, EventsList.self,
    DelegateAttach.self, DelegateDetach.self,
    StorageGet.self, StoragePut.self, StorageDelete.self, StorageList.self,
    PushRegister.self, PushUnregister.self, PushList.self,
  ]

  /// What the daemon says unasked.
  public static let notifications: [any RPCNotification.Type] = [
    EventsEvent.self, EventsGap.self, DaemonClosing.self,
  ]

  /// What the daemon asks of connections that are attached with `delegate.attach`.
  public static let requests: [any RPCMethod.Type] = [
    DelegateGetToken.self, DelegateInvalidAuth.self, DelegateShouldAuthenticate.self,
    DelegateAuthenticationFailed.self,
  ]
}
