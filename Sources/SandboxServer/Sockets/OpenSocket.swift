import Foundation

/// A WebSocket that a namespace has let in, as the wire sees it.
///
/// Whoever holds it carries out `commands` until they end, and says `ended()` when the connection is gone.
struct OpenSocket: Sendable {
  let id: Int
  let namespace: Namespace
  let commands: AsyncStream<SocketCommand>

  /// Takes in a text frame; returns when it has been dealt with.
  func receive(_ text: String) async {
    await namespace.receive(text, from: id)
  }

  /// Whether a ping is to be answered.
  func answersPing() async -> Bool {
    await namespace.answersPing(on: id)
  }

  /// Forgets the socket; `commands` end.
  func ended() async {
    await namespace.forget(socket: id)
  }
}

extension OpenSocket: Equatable {
  static func == (one: OpenSocket, other: OpenSocket) -> Bool {
    one.id == other.id && one.namespace === other.namespace
  }
}
