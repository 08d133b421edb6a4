/// How a client bears itself.
public struct ClientOptions: Sendable {
  /// Whom it talks to.
  public var trust: ServerTrust
  /// How long a call that was not run, and a read whose answer was lost, is tried again while the daemon restarts.
  public var readRetry: RetrySchedule
  /// How long a subscription or a delegate's connection that was lost is made again.
  public var reconnect: RetrySchedule
  /// How long a call waits that says nothing itself, tries included; `nil` for as long as it takes.
  public var callTimeout: Duration?
  /// How long a read that is over the daemon's rate limit waits in all, as the daemon says in `retryAfter`; zero to
  /// be told at once.
  public var rateLimitPatience: Duration
  /// How many calls may wait at a time; one more throws `tooManyCalls`.
  public var maxCalls: Int
  /// Whether each call is made in the calling thread, over a connection of its own: for a program that makes few
  /// calls, one after the other, and ends, since no thread is started. Such a call can't be cancelled.
  public var callsBlock: Bool
  /// Waits between attempts: the clock.
  public var sleep: @Sendable (Duration) async throws -> Void
  /// A number from 0 to 1, by which pauses differ between clients.
  public var random: @Sendable () -> Double

  /// Options that suit a client on the same machine: calls are tried again for five seconds and wait for two
  /// minutes, subscriptions and delegates come back for ever.
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
