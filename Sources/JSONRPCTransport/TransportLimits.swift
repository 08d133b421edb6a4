internal import NIOCore

/// The limits of one connection. Sizes are bytes on the wire.
public struct TransportLimits: Sendable, Hashable {
  /// The largest frame. A larger one ends the connection.
  public var maxFrameBytes = 1 << 20
  /// The largest frame for methods that don't declare that they take larger ones.
  public var smallFrameBytes = 64 << 10
  /// The time after which an unfinished frame ends the connection.
  public var frameTimeout: Duration = .seconds(10)
  /// The largest number of requests that run at once.
  public var maxInFlight = 64
  /// The largest number of bytes of frames whose requests wait to run.
  public var maxQueuedBytes = 1 << 20
  /// The number of unsent bytes above which nothing more is read from the peer.
  public var maxOutboundBytes = 4 << 20
  /// The time without progress in sending after which a peer that doesn't read is disconnected.
  public var writeTimeout: Duration = .seconds(30)

  /// The documented limits.
  public static let standard = TransportLimits()
}

/// The settings that all connections of a listener share.
public struct ConnectionSettings: Sendable {
  /// The limits of each connection.
  public var limits: TransportLimits
  /// Whether frames of a method may be larger than `limits.smallFrameBytes`.
  public var takesLargeFrames: @Sendable (_ method: String) -> Bool

  /// Makes settings; by default with the documented limits and no method that takes large frames.
  public init(
    limits: TransportLimits = .standard,
    takesLargeFrames: @escaping @Sendable (_ method: String) -> Bool = { _ in false }
  ) {
    self.limits = limits
    self.takesLargeFrames = takesLargeFrames
  }
}

extension TimeAmount {
  /// Converts a duration. Negative ones become zero, and too long ones the longest supported time.
  init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let longest = Int64.max / 4
    if overflow {
      self = .nanoseconds(seconds < 0 ? 0 : longest)
    } else {
      self = .nanoseconds(min(longest, max(0, nanoseconds)) + max(0, attoseconds / 1_000_000_000))
    }
  }
}
