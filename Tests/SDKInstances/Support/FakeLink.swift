import JSONRPC
import SDKProtocol
import Synchronization

@testable import SDKInstances

/// A client connection that records the messages sent to it.
final class FakeLink: ClientLink {
  let peer: Peer
  let isStranger: Bool
  private let lines = Mutex<[JSON]>([])
  private let unsent = Mutex(0)
  private let closed = Mutex(false)
  private let asked = Mutex<[(method: String, params: JSON, timeout: Duration)]>([])
  private let answering = Mutex<Answering?>(nil)

  /// A function that responds to the daemon's requests.
  typealias Answering = @Sendable (_ method: String, _ params: JSON) async throws(PeerRequestError) -> JSON

  init(uid: UInt32 = 0, unit: String? = nil) {
    peer = Peer(pid: 1, uid: uid, gid: uid, process: PeerProcess(unit: unit))
    isStranger = false
  }

  init(peer: Peer, isStranger: Bool = false) {
    self.peer = peer
    self.isStranger = isStranger
  }

  func send(_ line: [UInt8]) {
    guard let json = try? JSONParser.parse(line) else { return }
    lines.withLock { $0.append(json) }
  }

  var unsentBytes: Int { unsent.withLock { $0 } }
  func writable(below bytes: Int) async { while !isClosed, unsentBytes >= bytes { await Task.yield() } }
  func clog(_ bytes: Int) { unsent.withLock { $0 = bytes } }
  var isClosed: Bool { closed.withLock { $0 } }
  func close() { closed.withLock { $0 = true } }

  func answer(with answering: @escaping Answering) { self.answering.withLock { $0 = answering } }

  func request(method: String, params: JSON, timeout: Duration) async throws(PeerRequestError) -> JSON {
    asked.withLock { $0.append((method, params, timeout)) }
    guard !isClosed, let answering = answering.withLock({ $0 }) else { throw .closed }
    return try await answering(method, params)
  }

  /// The daemon's requests, oldest first.
  var requests: [(method: String, params: JSON, timeout: Duration)] { asked.withLock { $0 } }

  /// The messages that were sent, oldest first.
  var sent: [JSON] { lines.withLock { $0 } }
  /// Returns the params of the sent notifications of a method.
  func notifications(_ method: String) -> [JSON] {
    sent.filter { $0["method"]?.stringValue == method }.compactMap { $0["params"] }
  }
  /// The types of the delivered events, in order.
  var eventTypes: [String] { notifications("events.event").compactMap { $0["event"]?["type"]?.stringValue } }
}
