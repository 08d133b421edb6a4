import CSystemd
import Glibc

/// Tells the service manager how the daemon is doing, by `sd_notify(3)`.
///
/// Without `NOTIFY_SOCKET`, that is, started by hand, every call does nothing and answers false. The variable is
/// left in the environment, so that calls go on working. A call sends one datagram and keeps no state.
public struct Notifier: Sendable {
  /// A status line is cut at this many bytes, since the manager takes 4096 of a whole message.
  static let maximumStatusLength = 3584

  private let transmit: @Sendable (String) -> Int32

  /// A notifier for the manager that `NOTIFY_SOCKET` names when a message is sent.
  public init() {
    self.init { sd_notify(0, $0) }
  }

  init(transmit: @escaping @Sendable (String) -> Int32) {
    self.transmit = transmit
  }

  /// Whether a service manager waits for messages.
  public static var isWanted: Bool { Environment.value("NOTIFY_SOCKET") != nil }

  /// `READY=1`: everything is restored and the listener accepts. Ends a reload, too.
  @discardableResult
  public func ready(status: String? = nil) -> Bool {
    send("READY=1", status)
  }

  /// `STATUS=`: one line for `systemctl status`. Line breaks and control characters become spaces.
  @discardableResult
  public func status(_ text: String) -> Bool {
    send(nil, text)
  }

  /// `STOPPING=1`: the daemon has begun to shut down.
  @discardableResult
  public func stopping(status: String? = nil) -> Bool {
    send("STOPPING=1", status)
  }

  /// `RELOADING=1` with the monotonic time that `Type=notify-reload` asks for; ended by ``ready(status:)``.
  @discardableResult
  public func reloading() -> Bool {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let microseconds = Int64(now.tv_sec) &* 1_000_000 &+ Int64(now.tv_nsec) / 1000
    return send("RELOADING=1\nMONOTONIC_USEC=\(microseconds)", nil)
  }

  /// `EXTEND_TIMEOUT_USEC=`: start, stop or runtime may take this much longer, counted from now. To be repeated
  /// before it is over, for as long as needed.
  @discardableResult
  public func extendTimeout(microseconds: UInt64) -> Bool {
    send("EXTEND_TIMEOUT_USEC=\(microseconds)", nil)
  }

  /// `WATCHDOG=1`: keep-alive, to be sent only after a probe of what could be wedged. See ``Watchdog``.
  @discardableResult
  public func watchdog() -> Bool {
    send("WATCHDOG=1", nil)
  }

  /// Waits until the manager has taken in all earlier messages. Blocks the thread for up to `timeout`.
  @discardableResult
  public func barrier(timeout: Duration) -> Bool {
    guard Self.isWanted else { return false }
    let (seconds, attoseconds) = timeout.components
    let (scaled, overflow) = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000)
    // UInt64.max means "for ever" to sd_notify_barrier, and an overlong timeout must not.
    let microseconds =
      overflow ? UInt64.max - 1 : scaled &+ UInt64(clamping: attoseconds / 1_000_000_000_000)
    return sd_notify_barrier(0, min(microseconds, UInt64.max - 1)) > 0
  }

  private func send(_ assignment: String?, _ status: String?) -> Bool {
    let statusLine = status.map { "STATUS=" + Self.sanitised($0) }
    return transmit([assignment, statusLine].compactMap(\.self).joined(separator: "\n")) > 0
  }

  /// One line without control characters: a line break would begin an assignment of its own.
  static func sanitised(_ status: String) -> String {
    var line = String.UnicodeScalarView()
    var length = 0
    for scalar in status.unicodeScalars {
      let breaks = scalar.properties.generalCategory.isControlOrLineBreak
      let kept: Unicode.Scalar = breaks ? " " : scalar
      length += UTF8.width(kept)
      guard length <= maximumStatusLength else { break }
      line.append(kept)
    }
    return String(line)
  }
}
