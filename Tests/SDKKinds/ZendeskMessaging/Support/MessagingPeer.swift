import JSONRPC
import SDKInstances
import Synchronization

@testable import SDKKinds

/// The vendor's end of a realtime socket, in the test's hands.
final class MessagingPeer: VendorSocket {
  private struct State {
    var sent: [String] = []
    var isClosed = false
    var sendFailure: HTTPFailure?
    var isStuck = false
  }
  private let state = Mutex(State())
  private let messages: AsyncStream<Result<String?, HTTPFailure>>
  private let continuation: AsyncStream<Result<String?, HTTPFailure>>.Continuation

  init() { (messages, continuation) = AsyncStream.makeStream() }

  /// The messages that arrived, each as JSON.
  var sent: [JSON] { state.withLock { $0.sent }.compactMap { try? JSONParser.parse($0)[0] } }
  var channels: [String] { sent.compactMap { $0["channel"]?.stringValue } }
  var isClosed: Bool { state.withLock { $0.isClosed } }

  func say(_ message: JSON) { continuation.yield(.success(JSONWriter.text(of: message))) }
  func sayText(_ text: String) { continuation.yield(.success(text)) }
  func hangUp() { continuation.yield(.success(nil)) }
  func fail(_ failure: HTTPFailure) { continuation.yield(.failure(failure)) }
  func failSending(_ failure: HTTPFailure) { state.withLock { $0.sendFailure = failure } }
  /// What is sent from now on is never taken.
  func stopReading() { state.withLock { $0.isStuck = true } }

  /// Answers the handshake and the subscription.
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

  func next() async throws(HTTPFailure) -> String? {
    for await message in messages { return try message.get() }
    throw .network("cancelled")
  }

  func close() async {
    state.withLock { $0.isClosed = true }
    continuation.finish()
  }
}

extension JSON {
  fileprivate subscript(index: Int) -> JSON? { arrayValue.flatMap { $0.indices.contains(index) ? $0[index] : nil } }
}
