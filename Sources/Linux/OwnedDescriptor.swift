internal import CLinux
internal import Glibc
internal import Synchronization

/// A file descriptor that is closed exactly once: by `close`, or when this object is deallocated.
public final class OwnedDescriptor: Sendable {
  /// The number of the descriptor. It must not be used after `close`.
  public let raw: CInt

  private let isOpen = Atomic(true)

  /// Takes ownership of a descriptor.
  public init(_ raw: CInt) { self.raw = raw }

  deinit { close() }

  /// Closes the descriptor, even while other references to this object exist. Further calls do nothing. Closing the
  /// write end of a pipe gives its reader end of file.
  public func close() {
    if isOpen.exchange(false, ordering: .relaxed) { _ = Glibc.close(raw) }
  }

  /// Creates a pipe whose ends have the flag `FD_CLOEXEC`. Returns `nil` if it can't be created, as with too many open
  /// files.
  public static func pipe() -> (read: OwnedDescriptor, write: OwnedDescriptor)? {
    var ends: [CInt] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { return nil }
    // Not atomic with creation, but providers are spawned with every descriptor above 2 closed.
    for end in ends { _ = cl_set_cloexec(end) }
    return (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
  }
}
