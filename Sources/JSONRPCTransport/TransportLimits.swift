/// The limits of one connection. Sizes are bytes on the wire.
public struct TransportLimits: Sendable, Hashable {
  /// The largest frame. A larger one ends the connection.
  public var maxFrameBytes: Int
  /// The largest frame for methods that don't declare that they take larger ones.
  public var smallFrameBytes: Int
  /// The time after which an unfinished frame ends the connection.
  public var frameTimeout: Duration
  /// The largest number of requests that run at once.
  public var maxInFlight: Int
  /// The largest number of bytes of frames whose requests wait to run.
  public var maxQueuedBytes: Int
  /// The number of unsent bytes above which nothing more is read from the peer.
  public var maxOutboundBytes: Int
  /// The time without progress in sending after which a peer that doesn't read is disconnected.
  public var writeTimeout: Duration

  /// Makes limits; the defaults are the documented ones.
  public init(
    maxFrameBytes: Int = 1 << 20, smallFrameBytes: Int = 64 << 10, frameTimeout: Duration = .seconds(10),
    maxInFlight: Int = 64, maxQueuedBytes: Int = 1 << 20, maxOutboundBytes: Int = 4 << 20,
    writeTimeout: Duration = .seconds(30)
  ) {
    self.maxFrameBytes = maxFrameBytes
    self.smallFrameBytes = smallFrameBytes
    self.frameTimeout = frameTimeout
    self.maxInFlight = maxInFlight
    self.maxQueuedBytes = maxQueuedBytes
    self.maxOutboundBytes = maxOutboundBytes
    self.writeTimeout = writeTimeout
  }
}

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
