import CLinux
import Glibc
import Linux
import Synchronization

/// A runner of token providers that are systemd units, with another uid and sandbox than the daemon.
///
/// The daemon connects to the unit's socket, writes the question and closes its side. It then reads the program's
/// output and exit status (`ProviderReply`). When the time is over it shuts the connection down, the wrapper in the
/// unit ends the program, and the run lasts until that has happened. When the daemon stops, the run does not wait for it.
struct UnitProvider: ProviderRunning {
  /// The folder with a socket for each unit.
  var sockets: String

  func run(_ invocation: ProviderInvocation) async -> ProviderRun {
    let deadline = ContinuousClock.now + invocation.timeout
    let unit = UnitSocket(name: invocation.unit ?? "", folder: sockets)
    let (socket, wakeup) = (OwnedDescriptor(UnixAddress.makeSocket()), OwnedDescriptor(cl_eventfd_create()))
    defer {
      socket.close()
      wakeup.close()
    }
    guard socket.raw >= 0, wakeup.raw >= 0 else {
      return ProviderRun(ending: .notStarted("The daemon has too many open files to ask the token provider."))
    }
    let cancellation = Cancellation()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        do {
          try SystemThread.start(name: "provider", stackSize: ProviderWatch.stackSize) {
            var exchange = UnitExchange(
              unit: unit, socket: socket, invocation: invocation, deadline: deadline, wakeup: wakeup,
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
      _ = withUnsafeBytes(of: UInt64(1)) { write(wakeup.raw, $0.baseAddress, $0.count) }
    }
  }

  private final class Cancellation: Sendable {
    let isRequested = Atomic(false)
  }
}
