import DelegateBridge
import JSONRPCTransport
import SDKProtocol

extension Configuration {
  /// `[limits]`: for callers other than admins (sdkd-protocol(7)). A user is a uid with its subordinate uids. Callers
  /// without any role have a quarter of each total together.
  struct Limits: Sendable, Hashable {
    /// The longest frame.
    var maxFrameBytes = ByteCount.kibibytes(1024)
    /// The time within which a frame must be complete.
    var frameTimeout = Seconds(literal: 10)
    /// The number of requests of one connection that run at once.
    var maxInFlight = 64
    /// The number of requests of all connections of one user that run or wait.
    var maxInFlightPerUid = 1024
    /// The number of bytes that a peer may leave unread.
    var maxOutboundBytes = ByteCount.kibibytes(4096)
    /// The time for which a peer beyond `maxOutboundBytes` may read nothing.
    var writeTimeout = Seconds(literal: 30)
    /// The number of bytes that all connections of one user may have unfinished, waiting and unread.
    var bufferedBytesPerUid = ByteCount.kibibytes(32 * 1024)
    /// The number of connections of one user.
    var connections = 128
    /// The number of connections of all users.
    var totalConnections = 2048
    /// The number of bytes that all connections of all users may have unfinished, waiting and unread.
    var totalBufferedBytes = ByteCount.kibibytes(256 * 1024)
    /// The number of messages of all users per second.
    var totalMessagesPerSecond = 16_000
    /// The number of subscriptions of one connection.
    var subscriptions = 16
    /// The number of subscriptions of all connections of one user.
    var subscriptionsPerUid = 256
    /// The number of subscriptions of all users.
    var totalSubscriptions = 4096
    /// The number of calls of one user per second.
    var callsPerSecond = 500
    /// The number of instances of one user.
    var instances = 20
  }
}

extension Configuration.Limits {
  /// The limits in the form of `daemon.info`; durations in seconds.
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
      "totalBufferedBytes": Double(totalBufferedBytes.bytes),
      "totalMessagesPerSecond": Double(totalMessagesPerSecond),
      "totalSubscriptions": Double(totalSubscriptions),
      "instances": Double(instances),
    ]
  }
}
