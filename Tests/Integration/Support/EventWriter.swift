import Foundation
import JSONRPC

/// A client on a thread of its own that changes an instance repeatedly, and reconnects whenever a call fails.
final class EventWriter: @unchecked Sendable {
  private let lock = NSLock()
  private var written = 0
  private let ended = DispatchSemaphore(value: 0)

  init(_ socket: String, instance: String, times: Int) {
    Thread.detachNewThread { [self] in
      var line: Line?
      var number = 0
      while number < times {
        if line == nil { line = try? Line(socket) }
        let params: JSON = ["instance": .string(instance), "labels": ["n": .string("\(number)")]]
        if (try? line?.call("instance.update", params, within: 30)) != nil {
          number += 1
          lock.withLock { written = number }
        } else {
          line = nil
          usleep(5_000)
        }
      }
      ended.signal()
    }
  }

  var count: Int { lock.withLock { written } }
  func wait() { ended.wait() }
}
