import Glibc
import Linux
import Synchronization

/// A runner of token providers that are systemd units, with another uid and sandbox than the daemon.
///
/// The daemon connects to the unit's socket, writes the question and closes its side. It then reads the program's
/// output and exit status (`ProviderReply`). When the time is over it closes the connection, and the wrapper in the
/// unit ends the program.
struct UnitProvider: ProviderRunning {
  /// The folder with a socket for each unit.
  var sockets: String

  func run(_ invocation: ProviderInvocation) async -> ProviderRun {
    let deadline = ContinuousClock.now + invocation.timeout
    let unit = UnitSocket(name: invocation.unit ?? "", folder: sockets)
    let descriptor = UnixAddress.makeSocket()
    guard descriptor >= 0 else {
      return ProviderRun(ending: .notStarted("The daemon has too many open files to ask the token provider."))
    }
    let socket = OwnedDescriptor(descriptor)
    defer { socket.close() }
    let cancellation = Cancellation()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        do {
          try SystemThread.start(name: "provider", stackSize: ProviderWatch.stackSize) {
            var exchange = UnitExchange(
              unit: unit, socket: socket, invocation: invocation, deadline: deadline,
              isCancelled: { cancellation.isRequested.load(ordering: .sequentiallyConsistent) })
            var run = exchange.run()
            run.journal = unit.journal
            continuation.resume(returning: run)
          }
        } catch {
          let sentence = "The daemon has no room for another thread."
          continuation.resume(returning: ProviderRun(ending: .notStarted(sentence)))
        }
      }
    } onCancel: {
      // Set the flag, then wake the thread: a thread that connects in between sees the flag.
      cancellation.isRequested.store(true, ordering: .sequentiallyConsistent)
      _ = shutdown(socket.raw, Int32(SHUT_RDWR))
    }
  }

  private final class Cancellation: Sendable {
    let isRequested = Atomic(false)
  }
}
