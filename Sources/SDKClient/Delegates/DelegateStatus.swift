/// Whether a delegate is asked.
public enum DelegateStatus: Sendable, Hashable {
  /// The daemon asks it.
  case attached
  /// The connection is lost, such as by a restart of the daemon, and is being made again. The instances wait for a
  /// while for their delegate to come back (`delegate.grace`), then ask whoever is next.
  case detached(SDKClientError)
  /// It is not asked any more and does not try: it was detached (`nil`), or the daemon refuses it for good, such as
  /// after the loss of its role.
  case ended(SDKClientError?)
}
