/// How much one connection may ask of the daemon. Bytes are bytes on the wire.
public struct TransportLimits: Sendable, Hashable {
  /// The longest frame; a longer one ends the connection.
  public var maxFrameBytes: Int
  /// The longest frame for methods that don't declare that they take larger ones.
  public var smallFrameBytes: Int
  /// How long a frame may stay unfinished.
  public var frameTimeout: Duration
  /// How many requests run at once.
  public var maxInFlight: Int
  /// How many bytes of frames wait for one of these to end.
  public var maxQueuedBytes: Int
  /// How much the peer may leave unread before nothing more is read from it.
  public var maxOutboundBytes: Int
  /// How long the peer may then go on without reading anything.
  public var writeTimeout: Duration

  /// The documented limits, unless told otherwise.
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
