internal import Glibc

/// A signal that wakes a thread waiting in `poll`.
final class Alarm: Sendable {
  /// The descriptor to wait on; readable after `ring`.
  let descriptor: CInt
  private let bell: CInt

  /// Makes an alarm. Returns `nil` with `errno` if there is no socket pair, for example because all descriptors are in
  /// use.
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

  /// Wakes the thread now, or makes its next wait return at once.
  func ring() {
    var byte: UInt8 = 1
    _ = send(bell, &byte, 1, CInt(MSG_NOSIGNAL))
  }

  /// Makes the descriptor unreadable again.
  func reset() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while recv(descriptor, &bytes, bytes.count, 0) == bytes.count {}
  }
}
