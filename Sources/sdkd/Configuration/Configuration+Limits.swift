import DelegateBridge
import JSONRPCTransport
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
    /// Requests of all connections of one uid that run or wait.
    var maxInFlightPerUid = 1024
    /// What a peer may leave unread.
    var maxOutboundBytes = ByteCount.kibibytes(4096)
    /// How long it may then go on without reading.
    var writeTimeout = Seconds(literal: 30)
    /// What all connections of one uid may have unfinished, waiting and unread.
    var bufferedBytesPerUid = ByteCount.kibibytes(32 * 1024)
    /// Connections of one uid.
    var connections = 128
    /// Connections of all uids.
    var totalConnections = 2048
    /// Subscriptions of one connection.
    var subscriptions = 16
    /// Subscriptions of all connections of one uid.
    var subscriptionsPerUid = 256
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
      "maxInFlight": Double(maxInFlight), "maxInFlightPerUid": Double(maxInFlightPerUid),
      "bufferedBytesPerUid": Double(bufferedBytesPerUid.bytes),
      "totalConnections": Double(
        ConnectionLimits(total: totalConnections).fitting(descriptors: ConnectionLimits.descriptors).total),
      "callBurst": Double(AllowanceLimits(callsPerSecond: callsPerSecond).callBurst),
      "maxOutboundBytes": Double(maxOutboundBytes.bytes),
      "writeTimeout": writeTimeout.value, "connections": Double(connections),
      "subscriptions": Double(subscriptions), "subscriptionsPerUid": Double(subscriptionsPerUid),
      "callsPerSecond": Double(callsPerSecond),
      "instances": Double(instances),
    ]
  }
}
