/// The status of a delegate's attachment.
public enum DelegateStatus: Sendable, Hashable {
  /// The daemon sends it questions.
  case attached
  /// The connection was lost, such as by a restart of the daemon, and is being reopened. Meanwhile questions go to
  /// other delegates or the token provider. An instance that has neither waits up to `delegate.grace` for a delegate.
  case detached(SDKClientError)
  /// The delegate gets no more questions and does not reconnect. It was detached (`nil`), or the error is final, such
  /// as after the loss of its role.
  case ended(SDKClientError?)
}
