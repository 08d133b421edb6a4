import DelegateBridge
import SDKProtocol

extension Configuration {
  /// `[limits]`: for callers other than admins (`protocol.md`, "Errors").
  struct Limits: Sendable, Hashable {
    /// The longest frame.
    var maxFrameBytes = ByteCount.kibibytes(1024)
    /// How long a frame may stay unfinished.
    var frameTimeout = Seconds(literal: 10)
    /// Requests of one connection that run at once.
    var maxInFlight = 64
    /// What a peer may leave unread.
    var maxOutboundBytes = ByteCount.kibibytes(4096)
    /// How long it may then go on without reading.
    var writeTimeout = Seconds(literal: 30)
    /// Connections of one uid.
    var connections = 128
    /// Subscriptions of one connection.
    var subscriptions = 16
    /// Calls of one uid in a second.
    var callsPerSecond = 500
    /// Instances that one uid may have.
    var instances = 20
  }
}

extension Configuration.Limits {
  /// The limits as `daemon.info` tells them; durations in seconds.
  var published: [String: Double] {
    [
      "maxFrameBytes": Double(maxFrameBytes.bytes), "frameTimeout": frameTimeout.value,
      "maxInFlight": Double(maxInFlight), "maxOutboundBytes": Double(maxOutboundBytes.bytes),
      "writeTimeout": writeTimeout.value, "connections": Double(connections),
      "subscriptions": Double(subscriptions), "callsPerSecond": Double(callsPerSecond),
      "instances": Double(instances),
    ]
  }
}
