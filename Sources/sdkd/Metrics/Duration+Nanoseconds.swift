extension Duration {
  /// The duration in whole nanoseconds, as timers take it; the largest `Int64` if it is too long, past 290 years.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return isTooLong ? .max : whole &+ attoseconds / 1_000_000_000
  }
}
