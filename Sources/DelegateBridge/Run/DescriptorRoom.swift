import Glibc

/// Whether the daemon has room for the descriptors that a child takes.
///
/// The library that starts children does not come back from a start for which the descriptors gave out half-way, so
/// that is not tried: a daemon short of descriptors says so, and runs providers again when it has some.
enum DescriptorRoom {
  /// The pipes' six, the child's handles, and what the library keeps from its first child on, with some to spare.
  static let needed = 16

  /// Whether that many can be opened now.
  static func isThere() -> Bool {
    var taken: [Int32] = []
    defer { for descriptor in taken { close(descriptor) } }
    while taken.count < needed {
      let descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
      guard descriptor >= 0 else { return errno == EBADF }
      taken.append(descriptor)
    }
    return true
  }
}
