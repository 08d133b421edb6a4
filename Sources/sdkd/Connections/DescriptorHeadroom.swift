import Glibc

/// The file descriptors that no connection gets, so that providers, vendors, the store and refusals have some.
struct DescriptorHeadroom: Sendable {
  /// The lowest descriptor that is kept free.
  let threshold: Int32

  /// The headroom of a process with this limit.
  init(limit: Int) { threshold = Int32(clamping: limit - min(limit / 4, 64)) }

  /// Whether there is room for another connection.
  ///
  /// The kernel gives the lowest free descriptor: when that is over the threshold, all below are in use.
  var isThere: Bool {
    let lowest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
    // None is left only if the limit was lowered after the start. Then accepted connections are served, and others wait
    // to be accepted.
    guard lowest >= 0 else { return true }
    close(lowest)
    return lowest < threshold
  }
}
