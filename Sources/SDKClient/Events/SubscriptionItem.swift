public import JSONRPC
public import SDKProtocol

/// What a subscription delivers.
public enum SubscriptionItem: Sendable, Hashable {
  /// Something happened.
  case event(Event)
  /// Something of a type happened that this version does not know: the event as it came.
  case unknown(JSON)
  /// Events were missed, from the cursor before the first of them. The subscription goes on from `resume`: read
  /// the state that you keep again before you ask for the next item.
  case gap(from: String?, resume: String)
}
