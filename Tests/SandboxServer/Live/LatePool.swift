import FlyingFox
import FlyingSocks
import Foundation
import Glibc
import Synchronization

/// A socket pool that reports a socket's bytes with a delay of 50 ms.
///
/// It counts the sockets that were closed meanwhile. The task that waits for such a socket would read from its
/// descriptor, which may belong to another connection by then.
final class LatePool: AsyncSocketPool {
  private let base: any AsyncSocketPool = HTTPServer.defaultPool()
  private let count = Mutex(0)

  var closed: Int { count.withLock { $0 } }

  func prepare() async throws { try await base.prepare() }

  func run() async throws { try await base.run() }

  func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
    let isConnection = (try? socket.remotePeer()) != nil
    let result: Result<Void, any Error>
    do { result = .success(try await base.suspendSocket(socket, untilReadyFor: events)) } catch {
      result = .failure(error)
    }
    guard isConnection else { return try result.get() }
    // A task that is not cancelled waits for the whole delay.
    await Task { try? await Task.sleep(for: .milliseconds(50)) }.value
    if fcntl(socket.file.rawValue, F_GETFD) == -1 { count.withLock { $0 += 1 } }
    try result.get()
  }
}
