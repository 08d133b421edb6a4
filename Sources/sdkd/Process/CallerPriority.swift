import CLinux
import Linux
import Logging
import NIOCore
import NIOPosix
import SDKInstances

/// The better priority of the event loops that serve callers, while the daemon has much other work.
///
/// They answer what is at hand, such as a cached token. All other work of the daemon runs on other threads and may take
/// every processor, as a thousand renewals do. Callers of other instances must not wait behind it. Without such work the
/// usual priority is better: fifty clients that call at once get a third more answers.
struct CallerPriority {
  let group: MultiThreadedEventLoopGroup
  let logger: Logger

  /// The nice value of the threads during a rush. What they start does not inherit it.
  private static let nice: Int32 = -10

  /// Gives the threads the nice value that fits the work in progress. The system allows a better one than the usual to
  /// services with `LimitNICE=`, and to root.
  func follow(_ operations: Operations) {
    for loop in group.makeIterator() {
      loop.execute {
        let status = cl_set_thread_nice(operations.isRushing ? Self.nice : 0)
        guard status < 0 else { return }
        logger.debug("The event loops have the usual priority: \(SystemCallError("sched_setattr", status))")
      }
    }
  }
}
