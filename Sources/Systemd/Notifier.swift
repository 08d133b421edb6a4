import CSystemd
import Glibc

/// A sender of notifications about the daemon's state to the service manager, by `sd_notify(3)`.
///
/// Without `NOTIFY_SOCKET`, as after a start by hand, every call does nothing and returns false. The variable stays in
/// the environment, so that later calls work. A call sends one datagram and keeps no state.
public struct Notifier: Sendable {
  /// The length in bytes at which a status line is cut. The manager accepts 4096 bytes for a whole message.
  static let maximumStatusLength = 3584

  let transmit: @Sendable (String) -> Int32
}

extension Notifier {
  /// Creates a notifier for the manager that `NOTIFY_SOCKET` names when a message is sent.
  public init() {
    self.init { sd_notify(0, $0) }
  }

  /// Whether a service manager expects notifications.
  public static var isWanted: Bool { Environment.value("NOTIFY_SOCKET") != nil }

  /// Sends `READY=1`: everything is restored and the listener accepts connections. Also ends a reload.
  @discardableResult
  public func ready(status: String? = nil) -> Bool {
    send("READY=1", status)
  }

  /// Sends `STATUS=`: one line for `systemctl status`. Line breaks and control characters become spaces.
  @discardableResult
  public func status(_ text: String) -> Bool {
    send(nil, text)
  }

  /// Sends `STOPPING=1`: the daemon has begun to shut down.
  @discardableResult
  public func stopping(status: String? = nil) -> Bool {
    send("STOPPING=1", status)
  }

  /// Sends `RELOADING=1` with the monotonic time that `Type=notify-reload` requires. ``ready(status:)`` ends the
  /// reload.
  @discardableResult
  public func reloading() -> Bool {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let microseconds = Int64(now.tv_sec) &* 1_000_000 &+ Int64(now.tv_nsec) / 1000
    return send("RELOADING=1\nMONOTONIC_USEC=\(microseconds)", nil)
  }

  /// Sends `EXTEND_TIMEOUT_USEC=`: start, stop or runtime may take this much longer, counted from now.
  ///
  /// Repeat the call before that time has passed, for as long as needed.
  @discardableResult
  public func extendTimeout(microseconds: UInt64) -> Bool {
    send("EXTEND_TIMEOUT_USEC=\(microseconds)", nil)
  }

  /// Sends `WATCHDOG=1`, the keep-alive. Send it only after the parts that could stall have responded. See
  /// ``Watchdog``.
  @discardableResult
  public func watchdog() -> Bool {
    send("WATCHDOG=1", nil)
  }

  /// Sends `FDSTOREREMOVE=1`: the manager closes the descriptors that it keeps under a name, if there are any.
  ///
  /// Otherwise each start would get them again. Returns false for a name that no descriptor can have.
  @discardableResult
  public func removeStored(named name: String) -> Bool {
    let isName = name.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: ":") }
    return isName && !name.isEmpty && send("FDSTOREREMOVE=1\nFDNAME=\(name)", nil)
  }

  /// Whether the manager keeps descriptors for the next start (`FileDescriptorStoreMax=`).
  ///
  /// systemd sets `FDSTORE` since version 254. For earlier ones the daemon's units set it.
  public static var keepsDescriptors: Bool {
    isWanted && Environment.value("FDSTORE").flatMap { Int($0) }.map { $0 > 0 } ?? false
  }

  /// Sends `FDSTORE=1`: the manager keeps a duplicate of the descriptor, and passes it to the next start. Send a
  /// ``barrier(timeout:)`` before the process ends.
  ///
  /// - Parameter name: the name of the descriptor, under which ``removeStored(named:)`` removes it.
  @discardableResult
  public func store(_ descriptor: Int32, named name: String) -> Bool {
    // Without FDPOLL=0 the manager would close a socket whose peer has ended.
    withUnsafePointer(to: descriptor) {
      sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDNAME=\(name)\nFDPOLL=0", $0, 1) > 0
    }
  }

  /// Waits until the manager has received all earlier messages. Blocks the thread for up to `timeout`.
  @discardableResult
  public func barrier(timeout: Duration) -> Bool {
    guard Self.isWanted else { return false }
    let (seconds, attoseconds) = timeout.components
    let (scaled, overflow) = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000)
    // For sd_notify_barrier UInt64.max means no timeout, so keep even the longest timeout below it.
    let microseconds =
      overflow ? UInt64.max - 1 : scaled &+ UInt64(clamping: attoseconds / 1_000_000_000_000)
    return sd_notify_barrier(0, min(microseconds, UInt64.max - 1)) > 0
  }

  private func send(_ assignment: String?, _ status: String?) -> Bool {
    let statusLine = status.map { "STATUS=" + Self.sanitised($0) }
    return transmit([assignment, statusLine].compactMap(\.self).joined(separator: "\n")) > 0
  }

  /// Returns one line without control characters. A line break would begin another assignment.
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
