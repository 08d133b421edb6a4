/// How a client bears itself.
public struct ClientOptions: Sendable {
  /// Whom it talks to.
  public var trust: ServerTrust
  /// How long a read is tried again while the daemon restarts.
  public var readRetry: RetrySchedule
  /// How long a subscription that was lost is tried again.
  public var eventRetry: RetrySchedule
  /// Whether each call is made in the calling thread, over a connection of its own: for a program that makes few
  /// calls, one after the other, and ends, since no thread is started. Such a call can't be cancelled.
  public var callsBlock: Bool
  /// Waits between attempts.
  public var sleep: @Sendable (Duration) async throws -> Void

  /// Options that suit a client on the same machine: reads are tried again for five seconds, subscriptions for
  /// ever.
  public init(
    trust: ServerTrust = .standard, readRetry: RetrySchedule = RetrySchedule(),
    eventRetry: RetrySchedule = RetrySchedule(longest: .seconds(2), limit: nil), callsBlock: Bool = false,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.trust = trust
    self.readRetry = readRetry
    self.eventRetry = eventRetry
    self.callsBlock = callsBlock
    self.sleep = sleep
  }
}
