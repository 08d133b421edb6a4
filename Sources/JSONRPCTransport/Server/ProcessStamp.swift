internal import Glibc

/// What tells a process from a later one of the same number, as `/proc` has it.
struct ProcessStamp: Sendable, Hashable {
  /// When it started, in ticks since the machine's start.
  let start: UInt64
  /// Its effective user.
  let uid: UInt32
  /// Its effective group.
  let gid: UInt32

  /// The stamp of a living process; `nil` when there is none of this number, or `/proc` does not show it.
  init?(of pid: Int32) {
    guard let stat = Self.read("/proc/\(pid)/stat"), let status = Self.read("/proc/\(pid)/status") else { return nil }
    self.init(stat: stat, status: status)
  }

  /// Reads the two files; `nil` if they are none, or of a process that has ended and waits to be reaped.
  init?(stat: String, status: String) {
    // The name is in parentheses and may itself hold spaces and parentheses.
    guard let close = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: close)...].split(whereSeparator: \.isWhitespace)
    guard fields.count > 19, !["Z", "X", "x"].contains(fields[0]), let start = UInt64(fields[19]),
      let uid = Self.effective("Uid:", in: status), let gid = Self.effective("Gid:", in: status)
    else { return nil }
    self.start = start
    self.uid = uid
    self.gid = gid
  }

  /// The second of the four numbers on a line.
  private static func effective(_ name: String, in status: String) -> UInt32? {
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return nil }
    let numbers = line.split(whereSeparator: \.isWhitespace)
    return numbers.count > 2 ? UInt32(numbers[2]) : nil
  }

  /// Both files have a page at most; the names in them may be any bytes.
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
