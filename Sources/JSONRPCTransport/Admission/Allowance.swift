public import JSONRPC
internal import Synchronization

/// The quotas that all connections of one user share, and how much of them is used.
///
/// Can be used from any thread. Times are nanoseconds on one clock that does not go back.
public final class Allowance: Sendable {
  private struct Buckets {
    var limits: AllowanceLimits
    var calls: TokenBucket
    var messages: TokenBucket
    var connections: TokenBucket

    init(_ limits: AllowanceLimits) {
      self.limits = limits
      calls = TokenBucket(perSecond: limits.callsPerSecond, burst: limits.callBurst)
      messages = TokenBucket(perSecond: limits.messagesPerSecond, burst: limits.messageBurst)
      connections = calls
    }
  }

  /// The limits in force.
  public var limits: AllowanceLimits { buckets.withLock { $0.limits } }
  private let maxInFlight: Atomic<Int>
  private let maxBufferedBytes: Atomic<Int>
  private let buckets: Mutex<Buckets>
  private let inFlight = Atomic<Int>(0)
  private let buffered = Atomic<Int>(0)

  /// The number of bytes that counts as one message more against the message rate, so that long messages are not
  /// cheaper than short ones.
  static let bytesPerMessage = 2 << 10

  /// Makes an unused allowance.
  public init(limits: AllowanceLimits = AllowanceLimits()) {
    maxInFlight = Atomic(limits.maxInFlight)
    maxBufferedBytes = Atomic(limits.maxBufferedBytes)
    buckets = Mutex(Buckets(limits))
  }

  /// Replaces the limits. If `callsPerSecond` changes, recent usage is forgotten.
  public func use(_ limits: AllowanceLimits) {
    maxInFlight.store(limits.maxInFlight, ordering: .relaxed)
    maxBufferedBytes.store(limits.maxBufferedBytes, ordering: .relaxed)
    buckets.withLock { buckets in
      if buckets.limits.callsPerSecond == limits.callsPerSecond {
        buckets.limits = limits
      } else {
        buckets = Buckets(limits)
      }
    }
  }

  /// Counts a call. Returns the error if the call exceeds the rate and must not be run.
  func takeCall(at now: UInt64) -> RPCError? {
    guard let wait = buckets.withLock({ $0.calls.take(at: now) }) else { return nil }
    return .rateLimit(
      "This user makes more than \(limits.callsPerSecond) calls a second. This one was not run; repeat it later.",
      after: wait)
  }

  /// Counts a new connection. Returns the error if the connection exceeds the rate and must be refused.
  public func takeConnection(at now: UInt64) -> RPCError? {
    guard let wait = buckets.withLock({ $0.connections.take(at: now) }) else { return nil }
    return .rateLimit(
      "This user makes more than \(limits.callsPerSecond) connections a second. Keep one open, or connect later.",
      after: wait)
  }

  /// Counts messages that were read, whether they were run or refused.
  ///
  /// - Returns: the nanoseconds for which reading from their connection should pause; 0 for no pause.
  func paceAfter(messages: Int, bytes: Int, at now: UInt64) -> UInt64 {
    buckets.withLock { $0.messages.charge(messages + bytes / Self.bytesPerMessage, at: now) }
  }

  /// Whether all rates are unused, as in a new allowance. Open requests and buffered bytes are not considered.
  public func isUnused(at now: UInt64) -> Bool {
    buckets.withLock { $0.calls.isFull(at: now) && $0.messages.isFull(at: now) && $0.connections.isFull(at: now) }
  }

  /// Whether the user's requests, running and waiting, have reached `maxInFlight`.
  var isFull: Bool { inFlight.load(ordering: .relaxed) >= maxInFlight.load(ordering: .relaxed) }

  /// Adds to the number of requests in progress; a negative number removes requests that ended.
  func count(requests: Int) { inFlight.add(requests, ordering: .relaxed) }

  /// Whether the user's buffered bytes exceed `maxBufferedBytes`. Each connection's buffers are then limited more
  /// tightly.
  var isCrowded: Bool { buffered.load(ordering: .relaxed) > maxBufferedBytes.load(ordering: .relaxed) }

  /// Adds to the number of buffered bytes; a negative number removes bytes that were freed.
  func count(buffered bytes: Int) { buffered.add(bytes, ordering: .relaxed) }

  /// The requests in progress and the buffered bytes, for monitoring.
  public var usage: (requests: Int, bytes: Int) {
    (inFlight.load(ordering: .relaxed), buffered.load(ordering: .relaxed))
  }
}

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
