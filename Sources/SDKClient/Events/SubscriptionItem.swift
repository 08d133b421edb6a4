public import JSONRPC
public import SDKProtocol

/// An item that a subscription delivers.
public enum SubscriptionItem: Sendable, Hashable {
  /// An event.
  case event(Event)
  /// An event of a type that this version does not know, as received.
  case unknown(JSON)
  /// A gap: events after the cursor `from` were missed. Read the state that you keep again before you take the next
  /// item; the subscription then continues from `resume`.
  case gap(from: String?, resume: String)
}
