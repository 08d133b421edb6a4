import CSystemd

/// The watchdog of the service manager.
public enum Watchdog {
  /// Returns the time of silence after which the manager assumes a stall (`WatchdogSec=`); nil if it does not watch
  /// this process.
  ///
  /// Send keep-alives (``Notifier/watchdog()``) at intervals of at most half this time.
  public static func interval() -> Duration? {
    var microseconds: UInt64 = 0
    guard sd_watchdog_enabled(0, &microseconds) > 0, microseconds > 0 else { return nil }
    return .microseconds(Int64(clamping: microseconds))
  }
}
