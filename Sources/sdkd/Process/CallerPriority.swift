import CLinux
import Linux
import Logging
import NIOCore
import NIOPosix

/// The better priority of the event loops that serve callers.
///
/// They answer what is at hand, such as a cached token. All other work of the daemon runs on other threads and may take
/// every processor, as a thousand renewals do: callers of other instances must not wait for their turn behind it.
enum CallerPriority {
  /// The nice value of the threads. What they start does not inherit it.
  static let nice: Int32 = -10

  /// Gives it to the threads of `group`. The system allows it to services with `LimitNICE=`, and to root.
  static func raise(_ group: MultiThreadedEventLoopGroup, logger: Logger) {
    for loop in group.makeIterator() {
      loop.execute {
        let status = cl_set_thread_nice(nice)
        guard status < 0 else { return }
        logger.debug("The event loops have the usual priority: \(SystemCallError("sched_setattr", status))")
      }
    }
  }
}
