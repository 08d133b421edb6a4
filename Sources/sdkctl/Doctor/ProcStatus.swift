import Glibc

/// The status of a process in `/proc`.
enum ProcStatus {
  /// Returns the effective uid of a process; `nil` when the process has ended or is hidden.
  static func uid(ofProcess pid: Int) -> UInt32? {
    let descriptor = open("/proc/\(pid)/status", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(descriptor, &buffer, buffer.count)
    guard count > 0 else { return nil }
    let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
    let numbers = lines.first { $0.hasPrefix("Uid:") }?.split(whereSeparator: \.isWhitespace)
    return numbers.flatMap { $0.count > 2 ? UInt32($0[2]) : nil }
  }
}
