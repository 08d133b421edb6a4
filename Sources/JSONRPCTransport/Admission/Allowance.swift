public import JSONRPC
internal import Synchronization

/// What all connections of one user share: how much they may ask for, and how much of it they have used.
///
/// It can be used from any thread. Times are nanoseconds on one clock that does not go back.
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

  /// How much that is.
  public var limits: AllowanceLimits { buckets.withLock { $0.limits } }
  private let maxInFlight: Atomic<Int>
  private let maxBufferedBytes: Atomic<Int>
  private let buckets: Mutex<Buckets>
  private let inFlight = Atomic<Int>(0)
  private let buffered = Atomic<Int>(0)

  /// A message costs one more for each so many bytes: long ones are not cheaper than short ones.
  static let bytesPerMessage = 2 << 10

  /// An allowance of which nothing is used.
  public init(limits: AllowanceLimits = AllowanceLimits()) {
    maxInFlight = Atomic(limits.maxInFlight)
    maxBufferedBytes = Atomic(limits.maxBufferedBytes)
    buckets = Mutex(Buckets(limits))
  }

  /// Other limits from now on. With other rates what was used lately is forgotten.
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

  /// Counts a call, or says why it is not run.
  func takeCall(at now: UInt64) -> RPCError? {
    guard let wait = buckets.withLock({ $0.calls.take(at: now) }) else { return nil }
    return .rateLimit(
      "This user makes more than \(limits.callsPerSecond) calls a second. This one was not run; repeat it later.",
      after: wait)
  }

  /// Counts a new connection, or says why it is refused.
  public func takeConnection(at now: UInt64) -> RPCError? {
    guard let wait = buckets.withLock({ $0.connections.take(at: now) }) else { return nil }
    return .rateLimit(
      "This user makes more than \(limits.callsPerSecond) connections a second. Keep one open, or connect later.",
      after: wait)
  }

  /// Counts messages that were looked at, whatever became of them.
  ///
  /// - Returns: the nanoseconds for which their connection should not be read from.
  func paceAfter(messages: Int, bytes: Int, at now: UInt64) -> UInt64 {
    buckets.withLock { $0.messages.charge(messages + bytes / Self.bytesPerMessage, at: now) }
  }

  /// Whether nothing is remembered that a new allowance would not have.
  public func isUnused(at now: UInt64) -> Bool {
    buckets.withLock { $0.calls.isFull(at: now) && $0.messages.isFull(at: now) && $0.connections.isFull(at: now) }
  }

  /// Whether as many requests run or wait as may.
  var isFull: Bool { inFlight.load(ordering: .relaxed) >= maxInFlight.load(ordering: .relaxed) }

  /// Counts requests that begin, or by a negative number end.
  func count(requests: Int) { inFlight.add(requests, ordering: .relaxed) }

  /// Whether so much is kept for this user that each connection gets along with little.
  var isCrowded: Bool { buffered.load(ordering: .relaxed) > maxBufferedBytes.load(ordering: .relaxed) }

  /// Counts bytes that are kept, or by a negative number given back.
  func count(buffered bytes: Int) { buffered.add(bytes, ordering: .relaxed) }

  /// Requests in progress and bytes that are kept, for whoever watches.
  public var usage: (requests: Int, bytes: Int) {
    (inFlight.load(ordering: .relaxed), buffered.load(ordering: .relaxed))
  }
}
