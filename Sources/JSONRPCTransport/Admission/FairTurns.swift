internal import Synchronization

/// Turns in reading: while all users together send too many messages, those who send more than their fair share pause.
///
/// Messages are counted in windows of a tenth of a second. The number that is too many falls while the event loops lag.
/// A user that sends less than its fair share never pauses, whatever the others do.
final class FairTurns: Sendable {
  private struct Load {
    var perWindow: Int
    var window: UInt64 = 0
    var messages = 0
    /// The number of users that have sent messages in the window.
    var users = 0
    /// How late the event loops have been lately, in nanoseconds.
    var lag: UInt64 = 0
  }

  private let state: Mutex<Load>

  /// The length of a window in nanoseconds.
  private static let length: UInt64 = 100_000_000
  /// The lag above which fewer messages are too many, in nanoseconds.
  private static let tolerated: UInt64 = 2_000_000
  /// The smallest part of the messages that a lag leaves: one in so many.
  private static let least: UInt64 = 16

  init(messagesPerSecond: Int) { state = Mutex(Load(perWindow: Self.perWindow(messagesPerSecond))) }

  /// Replaces the limit.
  func use(messagesPerSecond: Int) { state.withLock { $0.perWindow = Self.perWindow(messagesPerSecond) } }

  private static func perWindow(_ messagesPerSecond: Int) -> Int { max(1, messagesPerSecond / 10) }

  /// Returns the number of the window at a time.
  static func window(at now: UInt64) -> UInt64 { now / length + 1 }

  /// Counts messages of a user.
  ///
  /// - Parameter user: the user's messages in the window, these included, and whether these are the first.
  /// - Returns: the nanoseconds for which the user should pause; 0 for no pause.
  func count(_ messages: Int, of user: (messages: Int, isFirst: Bool), at now: UInt64) -> UInt64 {
    state.withLock { state in
      let window = Self.window(at: now)
      if state.window != window { (state.window, state.messages, state.users) = (window, 0, 0) }
      state.messages += messages
      if user.isFirst { state.users += 1 }
      let limit = Self.limit(state.perWindow, lag: state.lag)
      guard state.messages > limit else { return 0 }
      let fair = max(1, limit / max(1, state.users))
      guard user.messages > fair else { return 0 }
      // The rest of this window, and one window more for each fair share that was exceeded.
      let excess = UInt64(user.messages / fair)
      return Self.length - now % Self.length + (excess - 1) * Self.length
    }
  }

  private static func limit(_ perWindow: Int, lag: UInt64) -> Int {
    guard lag > tolerated else { return perWindow }
    return max(1, perWindow / Int(min(lag / tolerated, least)))
  }

  /// Reports how late an event loop was. Bad news count at once, good news by and by.
  func noteLag(_ lag: UInt64) {
    state.withLock { state in
      state.lag = lag > state.lag ? (state.lag + lag) / 2 : state.lag - (state.lag - lag) / 8
    }
  }
}
