import Foundation
import JSONRPC

/// A client on a thread of its own that follows events as an app should. It subscribes after its last cursor, connects
/// again whenever the connection ends, and sometimes closes the connection itself.
final class EventFollower: @unchecked Sendable {
  private let socket: String
  private let lock = NSLock()
  private var seen: [String] = []
  private var connections = 0
  private var failure: String?
  private var isDone = false
  private let ended = DispatchSemaphore(value: 0)

  init(_ socket: String, since: String, number: Int) {
    self.socket = socket
    Thread.detachNewThread { [self] in
      var cursor = since
      var random = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15 | 1
      while !lock.withLock({ isDone }) {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        guard let line = try? Line(socket) else {
          usleep(10_000)
          continue
        }
        lock.withLock { connections += 1 }
        follow(line, from: &cursor, atMost: Int(random >> 58) + 3)
      }
      ended.signal()
    }
  }

  private func follow(_ line: Line, from cursor: inout String, atMost count: Int) {
    line.begin("events.subscribe", ["since": .string(cursor)])
    var taken = 0
    while taken < count, !lock.withLock({ isDone }), let message = try? line.json(within: 1) {
      switch message["method"]?.stringValue {
      case "events.event":
        guard let next = message["params"]?["event"]?["cursor"]?.stringValue else { return }
        cursor = next
        taken += 1
        lock.withLock { seen.append(next) }
      case "events.gap": lock.withLock { failure = "a gap: \(JSONWriter.text(of: message))" }
      default: break
      }
    }
  }

  /// The cursors of all received events, in the order of arrival.
  var cursors: [String] { lock.withLock { seen } }
  /// The number of connections so far.
  var connectionCount: Int { lock.withLock { connections } }
  /// A gap that the follower has received, which is a failure; `nil` without one.
  var complaint: String? { lock.withLock { failure } }

  func stop() {
    lock.withLock { isDone = true }
    ended.wait()
  }
}
