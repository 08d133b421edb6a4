/// The settings that all connections of a listener share.
public struct ConnectionSettings: Sendable {
  /// The limits of each connection.
  public var limits: TransportLimits
  /// Whether frames of a method may be larger than `limits.smallFrameBytes`.
  public var takesLargeFrames: @Sendable (_ method: String) -> Bool

  /// Makes settings; by default with the documented limits and no method that takes large frames.
  public init(
    limits: TransportLimits = TransportLimits(),
    takesLargeFrames: @escaping @Sendable (_ method: String) -> Bool = { _ in false }
  ) {
    self.limits = limits
    self.takesLargeFrames = takesLargeFrames
  }
}
