/// The options of a client: trust, retries and limits.
public struct ClientOptions: Sendable {
  /// The servers that the client accepts.
  public var trust: ServerTrust
  /// The retry schedule for calls that were not run, and for reads whose response was lost, such as during a restart.
  public var readRetry: RetrySchedule
  /// The schedule for reopening the lost connection of a subscription or a delegate.
  public var reconnect: RetrySchedule
  /// The time limit of a call that sets none, retries included; `nil` for no limit.
  public var callTimeout: Duration?
  /// The longest time that a read over the daemon's rate limit waits in total. Each pause is the daemon's `retryAfter`,
  /// or 1 s without one. The call throws instead of starting a pause beyond this limit.
  public var rateLimitPatience: Duration
  /// The maximum number of calls in progress; one more throws `tooManyCalls`.
  public var maxCalls: Int
  /// Whether each call runs in the calling thread, over a connection of its own. This starts no thread, and so suits a
  /// program that makes few calls, in sequence, and exits. Such a call can't be cancelled.
  public var callsBlock: Bool
  /// The function that waits between attempts.
  public var sleep: @Sendable (Duration) async throws -> Void
  /// The function that returns a random number from 0 to 1. It varies the pauses, so that clients do not retry
  /// together.
  public var random: @Sendable () -> Double

  /// Creates options that suit a client on the same machine. Calls are retried for 5 s and time out after two minutes;
  /// subscriptions and delegates reconnect without limit.
  public init(
    trust: ServerTrust = .standard, readRetry: RetrySchedule = RetrySchedule(),
    reconnect: RetrySchedule = RetrySchedule(longest: .seconds(2), limit: nil),
    callTimeout: Duration? = .seconds(120), rateLimitPatience: Duration = .zero, maxCalls: Int = 1024,
    callsBlock: Bool = false,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    random: @escaping @Sendable () -> Double = { .random(in: 0...1) }
  ) {
    self.trust = trust
    self.readRetry = readRetry
    self.reconnect = reconnect
    self.callTimeout = callTimeout
    self.rateLimitPatience = rateLimitPatience
    self.maxCalls = maxCalls
    self.callsBlock = callsBlock
    self.sleep = sleep
    self.random = random
  }
}

/// A schedule of pauses between attempts: each is twice the one before, up to `longest`.
public struct RetrySchedule: Sendable, Hashable {
  private var pause: Duration
  private var left: Duration?
  /// The longest pause.
  public let longest: Duration

  /// Creates a schedule that ends when its pauses add up to `limit`, or never if `limit` is `nil`.
  public init(
    first: Duration = .milliseconds(10), longest: Duration = .milliseconds(500), limit: Duration? = .seconds(5)
  ) {
    pause = first
    self.longest = longest
    left = limit
  }

  /// Returns the pause before the next attempt, or `nil` when the schedule has ended.
  ///
  /// - Parameter random: from 0 for half of the pause to 1 for all of it, so that clients that lost the same daemon
  ///   don't reconnect at the same moment.
  public mutating func next(random: Double = 1) -> Duration? {
    let whole = min(pause, longest)
    var given = whole * (0.5 + 0.5 * min(max(random, 0), 1))
    if let left {
      guard left > .zero else { return nil }
      given = min(given, left)
      self.left = left - given
    }
    pause = min(pause * 2, longest)
    return given
  }
}
