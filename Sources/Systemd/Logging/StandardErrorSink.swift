import Glibc
import Logging

/// A sink that writes one line per record to a descriptor, usually standard error.
public struct StandardErrorSink: LogSink {
  private let fileDescriptor: Int32
  private let prefixed: Bool

  /// Creates a sink for a descriptor, which the caller keeps open.
  ///
  /// - Parameter prefixed: whether lines begin with a priority such as `<6>` instead of time and level. A manager reads
  ///   it and adds the time itself.
  public init(prefixed: Bool, fileDescriptor: Int32 = 2) {
    self.prefixed = prefixed
    self.fileDescriptor = fileDescriptor
  }

  /// Writes the whole line, waiting for a slow reader. Returns false if the write failed.
  public func write(_ record: LogRecord) -> Bool {
    let line = Array((Self.line(record, prefixed: prefixed) + "\n").utf8)
    var offset = 0
    while offset < line.count {
      let count = line.withUnsafeBytes { bytes in
        Glibc.write(fileDescriptor, bytes.baseAddress?.advanced(by: offset), bytes.count - offset)
      }
      if count >= 0 {
        offset += count
      } else if errno == EAGAIN {
        // Another program that shares the terminal has made it non-blocking.
        var ready = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&ready, 1, -1) >= 0 || errno == EINTR else { return false }
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }

  /// Returns a line such as `2026-11-21T11:00:00.000Z info instance=front-desk message`.
  ///
  /// With a prefix it is `<6>instance=front-desk message`.
  static func line(_ record: LogRecord, prefixed: Bool) -> String {
    var line =
      prefixed
      ? "<\(JournalEntry.priority(of: record.level))>" : "\(timestamp(record.time)) \(record.level) "
    for (key, value) in record.metadata where key != LogRecord.messageIDKey {
      line += "\(LineText.key(key))=\(LineText.value(value)) "
    }
    return line + LineText.escaped(record.message)
  }

  /// Returns the time in the format of RFC 3339, in UTC with milliseconds.
  static func timestamp(_ time: (seconds: Int64, nanoseconds: Int64)) -> String {
    var seconds = time_t(time.seconds)
    var parts = tm()
    guard gmtime_r(&seconds, &parts) != nil else { return "-" }
    func digits(_ value: Int, _ width: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
    let date = [(Int(parts.tm_year) + 1900, 4), (Int(parts.tm_mon) + 1, 2), (Int(parts.tm_mday), 2)]
    let clock = [(Int(parts.tm_hour), 2), (Int(parts.tm_min), 2), (Int(parts.tm_sec), 2)]
    let day = date.map(digits).joined(separator: "-")
    let hour = clock.map(digits).joined(separator: ":")
    return "\(day)T\(hour).\(digits(Int(time.nanoseconds / 1_000_000), 3))Z"
  }
}
