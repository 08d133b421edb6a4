public import JSONRPC
internal import Synchronization

/// Quotas that several connections share, such as those of one user, and how much of them is used.
///
/// Can be used from any thread. Times are nanoseconds on one clock that does not go back.
public final class Share: Sendable {
  private struct Buckets {
    var limits: AllowanceLimits
    var calls: TokenBucket
    var messages: TokenBucket
    var connections: TokenBucket
    /// The messages in the current window of `FairTurns`.
    var window = (number: UInt64(0), messages: 0)

    init(_ limits: AllowanceLimits) {
      self.limits = limits
      calls = TokenBucket(perSecond: limits.callsPerSecond, burst: limits.callBurst)
      messages = TokenBucket(perSecond: limits.messagesPerSecond, burst: limits.messageBurst)
      connections = calls
    }

    func isUnused(at now: UInt64) -> Bool {
      calls.isFull(at: now) && messages.isFull(at: now) && connections.isFull(at: now)
    }
  }

  /// The number of the user; `nil` for a share of several users.
  public let user: UInt32?
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

  /// Makes an unused share.
  public init(limits: AllowanceLimits = AllowanceLimits(), user: UInt32? = nil) {
    self.user = user
    maxInFlight = Atomic(limits.maxInFlight)
    maxBufferedBytes = Atomic(limits.maxBufferedBytes)
    buckets = Mutex(Buckets(limits))
  }

  /// Replaces the limits. If a rate changes, recent usage is forgotten.
  public func use(_ limits: AllowanceLimits) {
    maxInFlight.store(limits.maxInFlight, ordering: .relaxed)
    maxBufferedBytes.store(limits.maxBufferedBytes, ordering: .relaxed)
    buckets.withLock { buckets in
      if buckets.limits.hasRates(of: limits) {
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
    let users = user == nil ? "All callers without a role make" : "This user makes"
    return .rateLimit(
      "\(users) more than \(limits.callsPerSecond) connections a second. Keep one open, or connect later.",
      after: wait)
  }

  /// Counts messages that were read, whether they were run or refused.
  ///
  /// - Parameters:
  ///   - weight: their number, in which long messages count several times.
  ///   - window: the number of the current window of `FairTurns`.
  /// - Returns: the nanoseconds for which reading from their connection should pause, 0 for no pause; the number of
  ///   messages in the window, and whether these are the first.
  func pace(_ weight: Int, window: UInt64, at now: UInt64) -> (wait: UInt64, inWindow: Int, isFirst: Bool) {
    buckets.withLock { buckets in
      let isFirst = buckets.window.number != window
      if isFirst { buckets.window = (window, 0) }
      buckets.window.messages += weight
      return (buckets.messages.charge(weight, at: now), buckets.window.messages, isFirst)
    }
  }

  /// Returns the number of messages that a number of messages and bytes count as.
  static func weight(messages: Int, bytes: Int) -> Int { messages + bytes / bytesPerMessage }

  /// Whether all rates are unused, as in a new share. Open requests and buffered bytes are not considered.
  public func isUnused(at now: UInt64) -> Bool {
    buckets.withLock { $0.isUnused(at: now) }
  }

  /// Returns how far the rates are used up, for another process; `nil` if they are unused.
  public func usedRates(at now: UInt64) -> HandedRates? {
    buckets.withLock { buckets -> HandedRates? in
      if buckets.isUnused(at: now) { return nil }
      return HandedRates(
        user: user, calls: buckets.calls.fullAt, messages: buckets.messages.fullAt,
        connections: buckets.connections.fullAt)
    }
  }

  /// Continues with the rates that another process has counted. The limits in force here decide what is left of them.
  public func adopt(_ rates: HandedRates, at now: UInt64) {
    buckets.withLock { buckets in
      buckets.calls.adopt(fullAt: rates.calls, at: now)
      buckets.messages.adopt(fullAt: rates.messages, at: now)
      buckets.connections.adopt(fullAt: rates.connections, at: now)
    }
  }

  /// Whether the requests, running and waiting, have reached `maxInFlight`.
  var isFull: Bool { inFlight.load(ordering: .relaxed) >= maxInFlight.load(ordering: .relaxed) }

  /// Adds to the number of requests in progress; a negative number removes requests that ended.
  func count(requests: Int) { inFlight.add(requests, ordering: .relaxed) }

  /// Whether the buffered bytes exceed `maxBufferedBytes`. Each connection's buffers are then limited more tightly.
  var isCrowded: Bool { buffered.load(ordering: .relaxed) > maxBufferedBytes.load(ordering: .relaxed) }

  /// Adds to the number of buffered bytes; a negative number removes bytes that were freed.
  func count(buffered bytes: Int) { buffered.add(bytes, ordering: .relaxed) }

  /// The requests in progress and the buffered bytes, for monitoring.
  public var usage: (requests: Int, bytes: Int) {
    (inFlight.load(ordering: .relaxed), buffered.load(ordering: .relaxed))
  }
}

/// The limits of a share.
public struct AllowanceLimits: Sendable, Hashable {
  /// The sustained number of calls per second.
  public var callsPerSecond: Int
  /// The number of calls in a burst after idle time.
  public var callBurst: Int { Self.times(callsPerSecond, 2) }
  /// The number of messages of any kind that are read per second, including refused calls. Beyond it, reading slows
  /// down.
  public var messagesPerSecond: Int { chosenMessages ?? Self.times(callsPerSecond, 4) }
  private let chosenMessages: Int?
  /// The number of messages in a burst after idle time.
  public var messageBurst: Int { messagesPerSecond }
  /// The largest number of requests that run or wait to run.
  public var maxInFlight: Int
  /// The largest number of buffered bytes: unfinished messages, waiting requests, and responses that the peer has not
  /// read.
  public var maxBufferedBytes: Int

  /// Makes limits; the defaults are the documented ones.
  ///
  /// - Parameter messagesPerSecond: `nil` for four times as many as calls.
  public init(
    callsPerSecond: Int = 500, messagesPerSecond: Int? = nil, maxInFlight: Int = 1024, maxBufferedBytes: Int = 32 << 20
  ) {
    self.callsPerSecond = callsPerSecond
    chosenMessages = messagesPerSecond
    self.maxInFlight = maxInFlight
    self.maxBufferedBytes = maxBufferedBytes
  }

  fileprivate func hasRates(of other: AllowanceLimits) -> Bool {
    callsPerSecond == other.callsPerSecond && messagesPerSecond == other.messagesPerSecond
  }

  private static func times(_ count: Int, _ factor: Int) -> Int {
    let (result, overflow) = count.multipliedReportingOverflow(by: factor)
    return overflow ? .max : result
  }
}
