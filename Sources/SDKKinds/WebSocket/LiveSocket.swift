import NIOCore
import SDKInstances

/// A WebSocket on a NIO channel, for use by tasks.
final class LiveSocket: VendorSocket {
  private let channel: any Channel
  private let handler: NIOLoopBound<SocketHandler>

  init(_ channel: any Channel, _ handler: NIOLoopBound<SocketHandler>) {
    self.channel = channel
    self.handler = handler
  }

  deinit { channel.close(promise: nil) }

  func send(_ text: String) async throws(HTTPFailure) {
    let turn = Turn<Void>()
    channel.eventLoop.execute { [handler] in handler.value.send(text, turn) }
    try await turn.outcome().get()
  }

  func next(within seconds: Double?) async throws(HTTPFailure) -> String? {
    let turn = Turn<String?>()
    channel.eventLoop.execute { [handler] in handler.value.take(turn) }
    let timer = seconds.map { seconds in
      channel.eventLoop.scheduleTask(in: SocketLimits.amount(seconds, within: 0...86_400)) {
        _ = turn.resolve(.failure(.timeout))
      }
    }
    defer { timer?.cancel() }
    return try await turn.outcome().get()
  }

  func close() async {
    channel.eventLoop.execute { [handler] in handler.value.close() }
    let turn = Turn<Void>()
    channel.closeFuture.whenComplete { _ in turn.resolve(.success(())) }
    if case .failure = await turn.outcome() {
      // The task was cancelled: don't wait for the peer's close frame.
      channel.close(promise: nil)
    }
  }
}
