/// The renewal strategies of a credential: where a new one could come from.
public struct RenewalMeans: Sendable, Hashable {
  /// Whether the SDK can get one from the vendor by itself: with a refresh token, or by exchanging the identity again.
  public var itself: Bool
  /// Whether a delegate or a token provider is available to supply one.
  public var bridge: Bool

  /// A set of strategies, by default none.
  public init(itself: Bool = false, bridge: Bool = false) {
    self.itself = itself
    self.bridge = bridge
  }

  /// No strategy.
  public static let none = RenewalMeans()
  /// Only the bridge.
  public static let bridge = RenewalMeans(bridge: true)

  /// Whether there is no strategy.
  public var isNone: Bool { !itself && !bridge }
}
