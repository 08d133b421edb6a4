import JSONRPC
import NIOCore
import NIOPosix
import SDKInstances
import Synchronization

@testable import SDKKinds

/// The vendor's end of a realtime socket, controlled by a test.
final class MessagingPeer: VendorSocket {
  private struct State {
    var sent: [String] = []
    var isClosed = false
    var sendFailure: HTTPFailure?
    var isStuck = false
    var inbox = SocketInbox(limits: SocketLimits())
  }
  private let state = Mutex(State())

  /// The first message of each frame that arrived, as JSON.
  var sent: [JSON] { state.withLock { $0.sent }.compactMap { try? JSONParser.parse($0)[0] } }
  var channels: [String] { sent.compactMap { $0["channel"]?.stringValue } }
  var isClosed: Bool { state.withLock { $0.isClosed } }

  func say(_ message: JSON) { sayText(JSONWriter.text(of: message)) }
  func sayText(_ text: String) { state.withLock { $0.inbox.add(text) } }
  func hangUp() { state.withLock { $0.inbox.finish(.success(nil)) } }
  func fail(_ failure: HTTPFailure) { state.withLock { $0.inbox.finish(.failure(failure)) } }
  func failSending(_ failure: HTTPFailure) { state.withLock { $0.sendFailure = failure } }
  /// Makes later sends block for 600 s, or until they are cancelled.
  func stopReading() { state.withLock { $0.isStuck = true } }

  /// Sends the responses that accept the handshake and the subscription.
  func accept() {
    say([
      [
        "channel": "/meta/handshake", "successful": true, "clientId": "c1", "supportedConnectionTypes": ["websocket"],
        "advice": ["reconnect": "retry", "interval": 0, "timeout": 25_000],
      ]
    ])
    say([["channel": "/meta/subscribe", "successful": true]])
  }

  func send(_ text: String) async throws(HTTPFailure) {
    let (failure, isStuck) = state.withLock { state in
      state.sent.append(text)
      return (state.sendFailure, state.isStuck)
    }
    if isStuck {
      do { try await Task.sleep(for: .seconds(600)) } catch { throw .network("cancelled") }
    }
    if let failure { throw failure }
  }

  func next(within seconds: Double?) async throws(HTTPFailure) -> String? {
    let turn = Turn<String?>()
    state.withLock { $0.inbox.take(turn) }
    let timer = seconds.map { seconds in
      MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: SocketLimits.amount(seconds, within: 0...86_400)) {
        _ = turn.resolve(.failure(.timeout))
      }
    }
    defer { timer?.cancel() }
    return try await turn.outcome().get()
  }

  func close() async {
    state.withLock {
      $0.isClosed = true
      $0.inbox.finish(.success(nil))
    }
  }
}

extension JSON {
  fileprivate subscript(index: Int) -> JSON? { arrayValue.flatMap { $0.indices.contains(index) ? $0[index] : nil } }
}
