internal import NIOCore

extension TimeAmount {
  /// Converts a duration. Negative ones become zero, and too long ones the longest supported time.
  init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let longest = Int64.max / 4
    if overflow {
      self = .nanoseconds(seconds < 0 ? 0 : longest)
    } else {
      self = .nanoseconds(min(longest, max(0, nanoseconds)) + max(0, attoseconds / 1_000_000_000))
    }
  }
}
