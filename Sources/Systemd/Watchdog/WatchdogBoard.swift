import CSystemd

/// The state of the watchdog's health probes: pending requests and their times. A value type, guarded by its owner.
struct WatchdogBoard {
  private struct Entry {
    var ticket: UInt64 = 0
    var askedAt: Duration?
  }

  private var entries: [Entry]
  private var lastTicket: UInt64 = 0

  init(count: Int) { entries = Array(repeating: Entry(), count: count) }

  /// Starts a request to every probe without a pending one, so that requests don't pile up at a stalled part.
  ///
  /// - Returns: the probes to call, each with the ticket for its response.
  mutating func ask(at now: Duration) -> [(index: Int, ticket: UInt64)] {
    entries.indices.filter { entries[$0].askedAt == nil }.map { index in
      lastTicket += 1
      entries[index] = Entry(ticket: lastTicket, askedAt: now)
      return (index, lastTicket)
    }
  }

  /// Marks a request as answered. Ignores the ticket of an older request.
  mutating func answer(_ index: Int, _ ticket: UInt64) {
    if entries[index].ticket == ticket { entries[index].askedAt = nil }
  }

  /// Returns for how long each probe's request is pending; zero for those without one.
  func silence(at now: Duration) -> [Duration] {
    entries.map { entry in entry.askedAt.map { max(.zero, now - $0) } ?? .zero }
  }
}

/// The settings of the service manager's watchdog for this process.
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
