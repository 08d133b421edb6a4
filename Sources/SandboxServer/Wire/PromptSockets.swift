import FlyingSocks
import Glibc

/// Sockets whose small writes are sent at once.
///
/// The library writes the head and the body of an answer one after the other. Without `TCP_NODELAY` the body waits until
/// the head is acknowledged, and the peer's kernel puts that off: 40 ms for each request on a kept connection.
struct PromptSockets<Base: AsyncSocketPool>: AsyncSocketPool {
  private let base: Base

  init(_ base: Base) { self.base = base }

  func prepare() async throws { try await base.prepare() }

  func run() async throws { try await base.run() }

  func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
    // First of all the listening one, from which the others have it.
    if events.contains(.read) {
      try? socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
    }
    try await base.suspendSocket(socket, untilReadyFor: events)
  }
}
