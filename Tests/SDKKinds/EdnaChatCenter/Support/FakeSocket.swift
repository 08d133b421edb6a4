import JSONRPC
import SDKInstances
import SDKProtocol
import Synchronization

@testable import SDKKinds

/// A socket whose vendor end is the test.
final class FakeSocket: VendorSocket {
  private struct State: Sendable {
    var sent: [JSON] = []
    var inbox = SocketInbox(limits: SocketLimits())
    var isClosed = false
  }
  private let state = Mutex(State())
  /// A function that gives the vendor's response to a frame; `nil` for no response.
  private let answer: @Sendable (JSON) -> String?

  init(answer: @escaping @Sendable (JSON) -> String? = { FakeSocket.acknowledgement(of: $0) }) {
    self.answer = answer
  }

  var sent: [JSON] { state.withLock { $0.sent } }
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Returns the vendor's acknowledgement of a frame.
  static func acknowledgement(of frame: JSON, data: JSON = ["status": "sent"]) -> String {
    JSONWriter.text(
      of: ["action": frame["action"] ?? .null, "correlationId": frame["correlationId"] ?? .null, "data": data])
  }

  /// Delivers a message of the vendor to the client.
  func push(_ text: String) { state.withLock { $0.inbox.add(text) } }
  func endInOrder() { state.withLock { $0.inbox.finish(.success(nil)) } }

  func send(_ text: String) async throws(HTTPFailure) {
    guard let frame = try? JSONParser.parse(Array(text.utf8)) else { throw .network("no JSON") }
    state.withLock { $0.sent.append(frame) }
    if let reply = answer(frame) { push(reply) }
  }

  func next(within _: Double?) async throws(HTTPFailure) -> String? {
    let turn = Turn<String?>()
    state.withLock { $0.inbox.take(turn) }
    return try await turn.outcome().get()
  }

  func close() async {
    state.withLock { $0.isClosed = true }
    endInOrder()
  }
}
