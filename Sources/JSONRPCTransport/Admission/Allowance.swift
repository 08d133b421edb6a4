public import JSONRPC
internal import Synchronization

/// The quotas of one connection: its user's share, the share of all strangers while its peer is one, and what all
/// connections together may have.
///
/// Can be used from any thread. Times are nanoseconds on one clock that does not go back.
public final class Allowance: Sendable {
  private struct Counted {
    /// The buffered bytes of the connection.
    var bytes = 0
    var isPooled = false
    var isEnded = false
  }

  /// The share of the user.
  public let user: Share
  private let common: CommonShares?
  private let counted = Mutex(Counted())
  private let pooled = Atomic(false)

  /// Makes the allowance of a connection.
  ///
  /// - Parameters:
  ///   - user: the share of its user.
  ///   - common: the shares of all connections; `nil` for none.
  public init(user: Share, common: CommonShares? = nil) {
    self.user = user
    self.common = common
  }

  /// Makes an allowance whose user has no other connection.
  public convenience init(limits: AllowanceLimits = AllowanceLimits()) { self.init(user: Share(limits: limits)) }

  /// Whether the connection counts against the share of all strangers, too.
  public var isPooled: Bool { pooled.load(ordering: .relaxed) }

  /// Ends the allowance with its connection, which stays where it is from now on. Returns whether it was in the share of
  /// all strangers.
  public func end() -> Bool {
    counted.withLock { counted in
      counted.isEnded = true
      return counted.isPooled
    }
  }

  /// Moves the connection into the share of all strangers, or out of it. Returns whether that is a change.
  public func setPooled(_ isPooled: Bool) -> Bool {
    counted.withLock { counted in
      guard counted.isPooled != isPooled, !counted.isEnded else { return false }
      counted.isPooled = isPooled
      pooled.store(isPooled, ordering: .relaxed)
      common?.strangers.count(buffered: isPooled ? counted.bytes : -counted.bytes)
      return true
    }
  }

  /// The limits of the user.
  var limits: AllowanceLimits { user.limits }

  /// Counts a call. Returns the error if the call exceeds the user's rate and must not be run.
  func takeCall(at now: UInt64) -> RPCError? { user.takeCall(at: now) }

  /// Counts messages that were read, whether they were run or refused.
  ///
  /// - Returns: the nanoseconds for which reading from their connection should pause; 0 for no pause.
  func paceAfter(messages: Int, bytes: Int, at now: UInt64) -> UInt64 {
    let weight = Share.weight(messages: messages, bytes: bytes)
    let window = FairTurns.window(at: now)
    let own = user.pace(weight, window: window, at: now)
    guard let common else { return own.wait }
    guard isPooled else {
      return max(own.wait, common.turns.count(weight, of: (own.inWindow, own.isFirst), at: now))
    }
    // All strangers have one turn together.
    let all = common.strangers.pace(weight, window: window, at: now)
    return max(own.wait, all.wait, common.turns.count(weight, of: (all.inWindow, all.isFirst), at: now))
  }

  /// Reports how late the event loop has continued the connection, in nanoseconds.
  func noteLag(_ lag: UInt64) { common?.turns.noteLag(lag) }

  /// Whether the user's requests, running and waiting, have reached their limit.
  var isFull: Bool { user.isFull }

  /// Adds to the number of requests in progress; a negative number removes requests that ended.
  func count(requests: Int) { user.count(requests: requests) }

  /// Whether the buffered bytes of any of the shares exceed their limit. The connection's buffers are then limited more
  /// tightly.
  var isCrowded: Bool {
    if user.isCrowded { return true }
    guard let common else { return false }
    return common.all.isCrowded || isPooled && common.strangers.isCrowded
  }

  /// Adds to the number of buffered bytes; a negative number removes bytes that were freed.
  func count(buffered bytes: Int) {
    user.count(buffered: bytes)
    guard let common else { return }
    common.all.count(buffered: bytes)
    counted.withLock { counted in
      counted.bytes += bytes
      if counted.isPooled { common.strangers.count(buffered: bytes) }
    }
  }

  /// The user's requests in progress and buffered bytes, for monitoring.
  public var usage: (requests: Int, bytes: Int) { user.usage }
}

/// The shares of all connections together, and of all strangers: peers that no rule admits anywhere.
public final class CommonShares: Sendable {
  /// The share of all connections. Only its bytes are limited: `turns` limits the messages.
  let all: Share
  /// The share of all strangers together.
  public let strangers: Share
  let turns: FairTurns

  /// Makes unused shares.
  public init(_ limits: CommonLimits) {
    all = Share(limits: limits.all)
    strangers = Share(limits: limits.strangers)
    turns = FairTurns(messagesPerSecond: limits.messagesPerSecond)
  }

  /// Replaces the limits.
  public func use(_ limits: CommonLimits) {
    all.use(limits.all)
    strangers.use(limits.strangers)
    turns.use(messagesPerSecond: limits.messagesPerSecond)
  }
}

/// The limits of all connections together. Strangers have a quarter of each.
public struct CommonLimits: Sendable, Hashable {
  /// The number of messages per second.
  public var messagesPerSecond = 16_000
  /// The number of buffered bytes.
  public var maxBufferedBytes = 256 << 20

  /// The documented limits.
  public static let standard = CommonLimits()

  fileprivate var all: AllowanceLimits { AllowanceLimits(maxBufferedBytes: maxBufferedBytes) }

  fileprivate var strangers: AllowanceLimits {
    let quarter = max(1, messagesPerSecond / 4)
    // A connection costs as much as a few messages.
    return AllowanceLimits(
      callsPerSecond: max(1, quarter / 4), messagesPerSecond: quarter, maxInFlight: .max,
      maxBufferedBytes: maxBufferedBytes / 4)
  }
}

/// The decision about a new connection.
public enum ConnectionAdmission: Sendable {
  /// The connection is served and counts against this allowance; `nil` if its user has no limits.
  case admitted(Allowance?)
  /// The connection gets this error, with `id: null`, and is closed.
  case refused(RPCError)
  /// The decision takes a look-up that must not run on an event loop. The connection waits for its result, which must
  /// come soon and not be `pending` itself; nothing is read meanwhile.
  case pending(@Sendable () async -> ConnectionAdmission)
}
