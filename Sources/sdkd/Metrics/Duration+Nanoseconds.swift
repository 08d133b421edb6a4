extension Duration {
  /// The duration in whole nanoseconds, as timers take it; past 290 years, that.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return isTooLong ? .max : whole &+ attoseconds / 1_000_000_000
  }
}
