/// How much all connections of one user may ask for together.
public struct AllowanceLimits: Sendable, Hashable {
  /// Calls in a second, in the long run.
  public var callsPerSecond: Int
  /// Calls at once, after a rest.
  public var callBurst: Int { Self.times(callsPerSecond, 2) }
  /// Messages of any kind, refused calls among them, that are looked at in a second. Past it we read more slowly.
  public var messagesPerSecond: Int { Self.times(callsPerSecond, 4) }
  /// Messages at once, after a rest.
  public var messageBurst: Int { Self.times(callsPerSecond, 4) }
  /// Requests that run or wait to.
  public var maxInFlight: Int
  /// Bytes of unfinished messages, of requests that wait and of answers that were not read.
  public var maxBufferedBytes: Int

  /// The documented limits, unless told otherwise.
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
