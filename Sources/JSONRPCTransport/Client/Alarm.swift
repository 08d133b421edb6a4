internal import Glibc

/// Wakes a thread that waits in `poll`.
final class Alarm: Sendable {
  /// Becomes readable when the alarm rings.
  let descriptor: CInt
  private let bell: CInt

  /// `nil` with `errno` when the process has no descriptors left.
  init?() {
    var pair: [CInt] = [-1, -1]
    let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    guard socketpair(AF_UNIX, CInt(type), 0, &pair) == 0 else { return nil }
    (descriptor, bell) = (pair[0], pair[1])
  }

  deinit {
    close(descriptor)
    close(bell)
  }

  /// Wakes the thread, now or when it next waits.
  func ring() {
    var byte: UInt8 = 1
    _ = send(bell, &byte, 1, CInt(MSG_NOSIGNAL))
  }

  /// Makes it silent again.
  func reset() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while recv(descriptor, &bytes, bytes.count, 0) == bytes.count {}
  }
}
