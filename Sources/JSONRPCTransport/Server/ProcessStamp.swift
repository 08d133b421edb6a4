internal import Glibc

/// The values in `/proc` that distinguish a process from a later one with the same number.
struct ProcessStamp: Sendable, Hashable {
  /// The start time, in clock ticks since boot.
  let start: UInt64
  /// The effective user ID.
  let uid: UInt32
  /// The effective group ID.
  let gid: UInt32

  /// Reads the stamp of a living process. Returns `nil` if there is no process with this number, or `/proc` does not
  /// show it.
  init?(of pid: Int32) {
    guard let stat = Self.read("/proc/\(pid)/stat"), let status = Self.read("/proc/\(pid)/status") else { return nil }
    self.init(stat: stat, status: status)
  }

  /// Parses the contents of the two files. Returns `nil` if they are invalid, or the process has ended and waits to be
  /// reaped.
  init?(stat: String, status: String) {
    // The name is in parentheses and may itself contain spaces and parentheses.
    guard let close = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: close)...].split(whereSeparator: \.isWhitespace)
    guard fields.count > 19, !["Z", "X", "x"].contains(fields[0]), let start = UInt64(fields[19]),
      let uid = Self.effective("Uid:", in: status), let gid = Self.effective("Gid:", in: status)
    else { return nil }
    self.start = start
    self.uid = uid
    self.gid = gid
  }

  /// Returns the effective ID, which is the second of the four numbers on the line `name`.
  private static func effective(_ name: String, in status: String) -> UInt32? {
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return nil }
    let numbers = line.split(whereSeparator: \.isWhitespace)
    return numbers.count > 2 ? UInt32(numbers[2]) : nil
  }

  /// Returns the first 8 KiB of a file, which hold all fields that are read here; `nil` on failure. Names in it may be
  /// invalid UTF-8, which is repaired.
  private static func read(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 8192)
    var filled = 0
    while filled < bytes.count {
      let count = bytes[filled...].withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? String(decoding: bytes[..<filled], as: UTF8.self) : nil }
      filled += count
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
