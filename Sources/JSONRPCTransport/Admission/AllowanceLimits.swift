public import JSONRPC

/// The quotas of one user, for all connections together.
public struct AllowanceLimits: Sendable, Hashable {
  /// The sustained number of calls per second.
  public var callsPerSecond: Int
  /// The number of calls in a burst after idle time.
  public var callBurst: Int { Self.times(callsPerSecond, 2) }
  /// The number of messages of any kind that are read per second, including refused calls. Beyond it, reading slows
  /// down.
  public var messagesPerSecond: Int { Self.times(callsPerSecond, 4) }
  /// The number of messages in a burst after idle time.
  public var messageBurst: Int { Self.times(callsPerSecond, 4) }
  /// The largest number of requests that run or wait to run.
  public var maxInFlight: Int
  /// The largest number of buffered bytes: unfinished messages, waiting requests, and responses that the peer has not
  /// read.
  public var maxBufferedBytes: Int

  /// Makes limits; the defaults are the documented ones.
  public init(callsPerSecond: Int = 500, maxInFlight: Int = 1024, maxBufferedBytes: Int = 32 << 20) {
    self.callsPerSecond = callsPerSecond
    self.maxInFlight = maxInFlight
    self.maxBufferedBytes = maxBufferedBytes
  }

  private static func times(_ count: Int, _ factor: Int) -> Int {
    let (result, overflow) = count.multipliedReportingOverflow(by: factor)
    return overflow ? .max : result
  }
}

/// The decision about a new connection.
public enum ConnectionAdmission: Sendable {
  /// The connection is served and counts against this allowance; `nil` if its user has no limits.
  case admitted(Allowance?)
  /// The connection gets this error, with `id: null`, and is closed.
  case refused(RPCError)
}
