import Foundation

/// The sandbox's reply to a request on the wire.
enum SandboxReply: Equatable, Sendable {
  /// Sends the response.
  case send(SandboxResponse)
  /// Sends the response's head and half of its body, then closes the connection.
  case cut(SandboxResponse)
  /// Closes the connection without sending a byte.
  case drop
  /// Sends the response, then closes the connection, since the following bytes can't be understood.
  case sendAndClose(SandboxResponse)
  /// Sends the response's head, and then events.
  case stream(SandboxResponse, OpenStream)
  /// Turns the connection into a WebSocket.
  case upgrade(OpenSocket)
}

/// A WebSocket that a namespace has accepted, as the connection sees it.
///
/// The connection carries out `commands` until they end, and calls `ended()` when it has closed.
struct OpenSocket: Sendable {
  let id: Int
  let namespace: Namespace
  let commands: AsyncStream<SocketCommand>

  /// Handles a text frame. Returns when it has been handled.
  func receive(_ text: String) async {
    await namespace.receive(text, from: id)
  }

  /// Counts a ping and returns whether to reply with a pong.
  func answersPing() async -> Bool {
    await namespace.answersPing(on: id)
  }

  /// Removes the socket from its namespace, which ends `commands`.
  func ended() async {
    await namespace.forget(socket: id)
  }
}

extension OpenSocket: Equatable {
  static func == (one: OpenSocket, other: OpenSocket) -> Bool {
    one.id == other.id && one.namespace === other.namespace
  }
}

/// A stream of server-sent events as the connection sees it.
struct OpenStream: Sendable {
  let namespace: Namespace
  let prefix: String
  var stream: ResponseStream

  /// Returns the next bytes, which may be a ping; `nil` when the stream is over.
  mutating func next() async -> Data? {
    guard let part = await namespace.part(of: stream, from: prefix) else { return nil }
    stream.after = part.after
    return Data(part.text.utf8)
  }
}

extension OpenStream: Equatable {
  static func == (one: OpenStream, other: OpenStream) -> Bool {
    one.stream == other.stream && one.namespace === other.namespace
  }
}
