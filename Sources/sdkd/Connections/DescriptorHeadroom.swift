import Glibc

/// The file descriptors reserved from connections, for providers, vendors, the store and refusals.
struct DescriptorHeadroom: Sendable {
  /// The lowest descriptor that is reserved.
  let threshold: Int32

  /// Creates the headroom of a process with this descriptor limit.
  init(limit: Int) { threshold = Int32(clamping: limit - min(limit / 4, 64)) }

  /// Whether another connection leaves the reserve free.
  ///
  /// The kernel returns the lowest free descriptor: when that is not below the threshold, all below it are in use.
  var isThere: Bool {
    let lowest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
    // None is free only if the limit was lowered after the start. Then accepted connections are served, and others wait
    // to be accepted.
    guard lowest >= 0 else { return true }
    close(lowest)
    return lowest < threshold
  }
}
