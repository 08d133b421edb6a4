import Glibc
import Linux

/// The pipes to a provider's three standard streams.
struct ProviderPipes: Sendable {
  /// The daemon's ends of the three pipes.
  let input: OwnedDescriptor
  let output: OwnedDescriptor
  let error: OwnedDescriptor

  /// Creates the pipes and the provider's ends: standard input, output and error; `nil` with too many open files.
  static func make() -> (pipes: ProviderPipes, ends: [OwnedDescriptor])? {
    guard let input = OwnedDescriptor.pipe(), let output = OwnedDescriptor.pipe(), let error = OwnedDescriptor.pipe()
    else { return nil }
    let pipes = ProviderPipes(input: input.write, output: output.read, error: error.read)
    return (pipes, [input.read, output.write, error.write])
  }
}

/// A check of whether the daemon has enough free file descriptors for a child.
///
/// The library that starts children hangs when descriptors run out during a start. So a start is attempted only with
/// enough of them. A daemon without them reports an error, and runs providers again when some are free.
enum DescriptorRoom {
  /// The number of descriptors that a start needs: six for the pipes, the child's handles, those that the library keeps
  /// from its first child on, and a reserve.
  static let needed = 16

  /// Returns whether `needed` descriptors can be opened now.
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
