import CLinux
import Glibc
import Synchronization

/// A file descriptor that is closed once: when it is told to, or when nobody holds it any longer.
final class OwnedDescriptor: Sendable {
  /// The number; not to be used after `close`.
  let raw: Int32

  private let isOpen = Atomic(true)

  /// Takes a descriptor over.
  init(_ raw: Int32) { self.raw = raw }

  deinit { close() }

  /// Closes it now, whoever still holds it: the other end of a pipe is waiting to see that.
  func close() {
    if isOpen.exchange(false, ordering: .relaxed) { _ = Glibc.close(raw) }
  }

  /// The two ends of a new pipe, closed by exec; `nil` with too many open files.
  static func pipe() -> (read: OwnedDescriptor, write: OwnedDescriptor)? {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { return nil }
    // Not at once with making them, but providers are spawned with every descriptor above 2 closed.
    for end in ends { _ = cl_set_cloexec(end) }
    return (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
  }
}
