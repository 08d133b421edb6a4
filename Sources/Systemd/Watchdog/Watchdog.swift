import CSystemd

/// The watchdog of the service manager.
public enum Watchdog {
  /// The time after which the manager takes silence for a wedge (`WatchdogSec=`); nil if it does not watch this
  /// process. Keep-alives (``Notifier/watchdog()``) belong at half of it or more often.
  public static func interval() -> Duration? {
    var microseconds: UInt64 = 0
    guard sd_watchdog_enabled(0, &microseconds) > 0, microseconds > 0 else { return nil }
    return .microseconds(Int64(clamping: microseconds))
  }
}
