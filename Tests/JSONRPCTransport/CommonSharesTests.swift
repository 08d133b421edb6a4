import Testing

@testable import JSONRPCTransport

/// The shares that all users and all strangers have in common, on a clock that the tests advance.
struct CommonSharesTests {
  private static let window: UInt64 = 100_000_000
  private static let second: UInt64 = 1_000_000_000

  private func user(_ common: CommonShares, messages: Int = 1_000_000) -> Allowance {
    Allowance(user: Share(limits: AllowanceLimits(messagesPerSecond: messages), user: 7), common: common)
  }

  @Test("While all together send too many messages, only those over their fair share pause")
  func fairTurns() {
    let common = CommonShares(CommonLimits(messagesPerSecond: 1000, maxBufferedBytes: .max / 2))
    let (flood, other, quiet) = (user(common), user(common), user(common))
    // A window has 100 messages: fair shares are 33.
    #expect(quiet.paceAfter(messages: 5, bytes: 0, at: 0) == 0)
    #expect(other.paceAfter(messages: 34, bytes: 0, at: 0) == 0)
    #expect(flood.paceAfter(messages: 61, bytes: 0, at: 0) == 0)
    #expect(flood.paceAfter(messages: 10, bytes: 0, at: Self.window / 2) == Self.window / 2 + Self.window)
    #expect(other.paceAfter(messages: 1, bytes: 0, at: Self.window / 2) == Self.window / 2)
    for _ in 0..<20 { #expect(quiet.paceAfter(messages: 1, bytes: 0, at: Self.window / 2) == 0) }
    // The next window has the full share again.
    #expect(flood.paceAfter(messages: 100, bytes: 0, at: Self.window) == 0)
    #expect(flood.paceAfter(messages: 1, bytes: 0, at: Self.window) > 0)
    #expect(quiet.paceAfter(messages: 1, bytes: 0, at: Self.window) == 0)
  }

  @Test("A single user may send all that all may send, and no more")
  func alone() {
    let common = CommonShares(CommonLimits(messagesPerSecond: 1000, maxBufferedBytes: .max / 2))
    let only = user(common)
    #expect(only.paceAfter(messages: 100, bytes: 0, at: 0) == 0)
    #expect(only.paceAfter(messages: 1, bytes: 0, at: 0) == Self.window)
    #expect(only.paceAfter(messages: 400, bytes: 0, at: 0) == 5 * Self.window)
  }

  @Test("When the event loops lag, fewer messages are too many, and more again when they don't")
  func lag() {
    let common = CommonShares(CommonLimits(messagesPerSecond: 1000, maxBufferedBytes: .max / 2))
    let (flood, quiet) = (user(common), user(common))
    for _ in 0..<20 { flood.noteLag(20_000_000) }
    #expect(quiet.paceAfter(messages: 1, bytes: 0, at: 0) == 0)
    #expect(flood.paceAfter(messages: 50, bytes: 0, at: 0) > 0)
    #expect(quiet.paceAfter(messages: 1, bytes: 0, at: 0) == 0)
    for _ in 0..<100 { flood.noteLag(0) }
    #expect(flood.paceAfter(messages: 50, bytes: 0, at: Self.window) == 0)
  }

  @Test("All strangers have a quarter of the messages, and one fair share together")
  func messagesOfStrangers() {
    let common = CommonShares(CommonLimits(messagesPerSecond: 1000, maxBufferedBytes: .max / 2))
    let strangers = (0..<64).map { _ in user(common) }
    for stranger in strangers { #expect(stranger.setPooled(true)) }
    // The limit: 250 messages at once, then 250 per second.
    for stranger in strangers[..<60] { _ = stranger.paceAfter(messages: 4, bytes: 0, at: 0) }
    #expect(strangers[60].paceAfter(messages: 10, bytes: 0, at: 0) > 0)
    #expect(strangers[61].paceAfter(messages: 250, bytes: 0, at: 2 * Self.second) > Self.window)
    // A user who got a role no longer waits for the strangers.
    #expect(strangers[61].setPooled(false))
    #expect(strangers[61].paceAfter(messages: 1, bytes: 0, at: 3 * Self.second) == 0)
  }

  @Test("The bytes of all connections are limited, and those of strangers to a quarter")
  func bytes() {
    let common = CommonShares(CommonLimits(messagesPerSecond: 1000, maxBufferedBytes: 400))
    let (known, stranger) = (user(common), user(common))
    #expect(stranger.setPooled(true))
    stranger.count(buffered: 101)
    #expect(stranger.isCrowded && !known.isCrowded)
    #expect(stranger.setPooled(false))
    #expect(!stranger.isCrowded)
    #expect(stranger.setPooled(true))
    #expect(!stranger.setPooled(true))
    #expect(stranger.isCrowded)
    known.count(buffered: 300)
    #expect(known.isCrowded)
    stranger.count(buffered: -101)
    #expect(!known.isCrowded && !stranger.isCrowded)
    common.use(CommonLimits(messagesPerSecond: 1000, maxBufferedBytes: 200))
    #expect(known.isCrowded)
    #expect(known.end() == false && stranger.end())
    #expect(!stranger.setPooled(false))
  }
}
