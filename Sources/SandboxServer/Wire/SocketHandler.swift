import FlyingFox
import Foundation

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
