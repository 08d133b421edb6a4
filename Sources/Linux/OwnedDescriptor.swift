internal import CLinux
internal import Glibc
internal import Synchronization

/// A file descriptor that is closed exactly once: by `close`, or when it is released.
public final class OwnedDescriptor: Sendable {
  /// The descriptor's number; not to be used after `close`.
  public let raw: CInt

  private let isOpen = Atomic(true)

  /// Takes ownership of a descriptor.
  public init(_ raw: CInt) { self.raw = raw }

  deinit { close() }

  /// Closes the descriptor, even while others hold a reference. The other end of a pipe then sees its end.
  public func close() {
    if isOpen.exchange(false, ordering: .relaxed) { _ = Glibc.close(raw) }
  }

  /// Creates a pipe whose ends are closed by exec; `nil` with too many open files.
  public static func pipe() -> (read: OwnedDescriptor, write: OwnedDescriptor)? {
    var ends: [CInt] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { return nil }
    // Not atomic with creation, but providers are spawned with every descriptor above 2 closed.
    for end in ends { _ = cl_set_cloexec(end) }
    return (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
  }
}
