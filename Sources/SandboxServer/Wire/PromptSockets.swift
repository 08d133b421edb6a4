import FlyingSocks
import Glibc

/// A socket pool that sets `TCP_NODELAY`, so that small writes are sent at once.
///
/// The library writes the head and the body of a response separately. Without `TCP_NODELAY` the body waits until the
/// peer acknowledges the head, which its kernel delays: 40 ms for each request on a kept connection.
struct PromptSockets<Base: AsyncSocketPool>: AsyncSocketPool {
  private let base: Base

  init(_ base: Base) { self.base = base }

  func prepare() async throws { try await base.prepare() }

  func run() async throws { try await base.run() }

  func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
    // The listening socket comes first. Accepted sockets inherit the option from it.
    if events.contains(.read) {
      try? socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
    }
    try await base.suspendSocket(socket, untilReadyFor: events)
  }
}
