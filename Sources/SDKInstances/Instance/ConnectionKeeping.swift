import SDKProtocol

/// How an instance stands with the connection that it keeps with its vendor.
struct ConnectionKeeping {
  /// What a connection is about: another credential or user needs another one.
  struct Subject: Hashable {
    var epoch: UInt64
    var token: TokenID?
  }

  /// The connection that is open.
  var open: (any RealtimeConnection)?
  /// What it is, or would be, about.
  var subject: Subject?
  /// Distinguishes connections: what an earlier one says is not heard any more.
  var number: UInt64 = 0
  /// Whether one is being opened.
  var isOpening = false
  /// When it is tried again.
  var retryAt: Timestamp?
  /// How often in a row it failed.
  var failures = 0

  /// The longest pause between two attempts, in seconds.
  static let longestPause = 120.0

  /// How long to wait before the next attempt: twice as long each time, at random between nothing and that.
  func pause(random: Double) -> Double {
    let longest = min(Self.longestPause, 1 * Double(1 << min(failures, 10)))
    return max(0.2, longest * min(max(random, 0), 1))
  }
}
