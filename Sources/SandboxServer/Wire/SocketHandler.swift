import FlyingFox
import FlyingSocks
import Foundation
import Glibc

/// An adapter between the HTTP library's frames and a socket of the sandbox.
struct SocketHandler: WSHandler {
  let socket: OpenSocket
  let jobs: SocketJobs

  func makeFrames(for client: AsyncThrowingStream<WSFrame, any Error>) async throws -> AsyncStream<WSFrame> {
    let (frames, out) = AsyncStream<WSFrame>.makeStream(bufferingPolicy: .bufferingOldest(SandboxLimits.socketBacklog))
    let (gone, leave) = AsyncStream<Never>.makeStream()
    out.onTermination = { _ in leave.finish() }
    let connection = SocketConnection(socket: socket, client: client, out: out)
    if !jobs.submit({ await connection.run(until: gone) }) {
      await socket.ended()
      out.finish()
    }
    return frames
  }
}

/// The jobs of open WebSockets, which run in one task group.
struct SocketJobs: Sendable {
  typealias Job = @Sendable () async -> Void

  private let all: AsyncStream<Job>
  private let next: AsyncStream<Job>.Continuation

  init() {
    (all, next) = AsyncStream<Job>.makeStream()
  }

  /// Runs the submitted jobs. Returns when the server has stopped and all jobs have ended.
  func run() async {
    await withDiscardingTaskGroup { group in
      for await job in all { group.addTask { await job() } }
    }
  }

  /// Submits a job to the server. Returns false if the server has stopped.
  func submit(_ job: @escaping Job) -> Bool {
    if case .enqueued = next.yield(job) { true } else { false }
  }

  func finish() { next.finish() }
}

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
