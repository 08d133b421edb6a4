/// Where a new credential could come from.
public struct RenewalMeans: Sendable, Hashable {
  /// The SDK can have one from the vendor by itself: with a refresh token, or by exchanging the identity again.
  public var itself: Bool
  /// There is somebody to ask: a delegate or a token provider.
  public var bridge: Bool

  /// These means.
  public init(itself: Bool = false, bridge: Bool = false) {
    self.itself = itself
    self.bridge = bridge
  }

  /// Nowhere.
  public static let none = RenewalMeans()
  /// The bridge alone.
  public static let bridge = RenewalMeans(bridge: true)

  /// Whether there is none.
  public var isNone: Bool { !itself && !bridge }
}
