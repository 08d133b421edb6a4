import CLinux
import Glibc
import Synchronization

/// A file descriptor that is closed exactly once: by `close`, or when it is released.
final class OwnedDescriptor: Sendable {
  /// The descriptor's number; not to be used after `close`.
  let raw: Int32

  private let isOpen = Atomic(true)

  /// Takes ownership of a descriptor.
  init(_ raw: Int32) { self.raw = raw }

  deinit { close() }

  /// Closes the descriptor, even while others hold a reference. The other end of a pipe then sees its end.
  func close() {
    if isOpen.exchange(false, ordering: .relaxed) { _ = Glibc.close(raw) }
  }

  /// Creates a pipe whose ends are closed by exec; `nil` with too many open files.
  static func pipe() -> (read: OwnedDescriptor, write: OwnedDescriptor)? {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { return nil }
    // Not atomic with creation, but providers are spawned with every descriptor above 2 closed.
    for end in ends { _ = cl_set_cloexec(end) }
    return (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
  }
}
