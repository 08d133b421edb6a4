/// What is the same for all connections of a listener.
public struct ConnectionSettings: Sendable {
  /// How much each may ask.
  public var limits: TransportLimits
  /// Whether frames of a method may be larger than `limits.smallFrameBytes`.
  public var takesLargeFrames: @Sendable (_ method: String) -> Bool

  /// Settings with the documented limits, where no method takes large frames.
  public init(
    limits: TransportLimits = TransportLimits(),
    takesLargeFrames: @escaping @Sendable (_ method: String) -> Bool = { _ in false }
  ) {
    self.limits = limits
    self.takesLargeFrames = takesLargeFrames
  }
}
