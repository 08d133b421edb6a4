import Foundation
import Glibc
import JSONRPC

/// A reader of the events of many connections, on one thread. It is cheap, because it looks only at the cursor of each
/// line.
final class EventDrain: @unchecked Sendable {
  private let lines: [Line]
  private var buffers: [[UInt8]]
  private let lock = NSLock()
  private var seen: [[String]]
  private var isDone = false
  private let ended = DispatchSemaphore(value: 0)
  /// The start of a line with an event of a connection's first subscription.
  private static let head = Array(
    #"{"jsonrpc":"2.0","method":"events.event","params":{"subscription":"s1","event":{"cursor":""#.utf8)
  private static let cursorBytes = 32

  /// Takes over connections that have subscribed.
  init(_ lines: [Line]) {
    self.lines = lines
    buffers = lines.map { _ in [] }
    seen = lines.map { _ in [] }
    Thread.detachNewThread { [self] in
      while !lock.withLock({ isDone }) { turn() }
      ended.signal()
    }
  }

  private func turn() {
    var pollers = lines.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    guard poll(&pollers, nfds_t(pollers.count), 50) > 0 else { return }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    for (index, poller) in pollers.enumerated() where poller.revents != 0 {
      let count = recv(poller.fd, &chunk, chunk.count, 0)
      if count > 0 { take(chunk[..<count], of: index) }
    }
  }

  private func take(_ bytes: ArraySlice<UInt8>, of index: Int) {
    buffers[index] += bytes
    var found: [String] = []
    let used = buffers[index].withUnsafeBytes { buffer -> Int in
      var start = 0
      while start < buffer.count, let base = buffer.baseAddress,
        let end = memchr(base + start, 10, buffer.count - start)
      {
        let length = base.distance(to: UnsafeRawPointer(end)) - start
        if length > Self.head.count + Self.cursorBytes, memcmp(base + start, Self.head, Self.head.count) == 0 {
          let first = start + Self.head.count
          found.append(String(decoding: buffer[first..<(first + Self.cursorBytes)], as: UTF8.self))
        }
        start += length + 1
      }
      return start
    }
    buffers[index].removeFirst(used)
    lock.withLock { seen[index] += found }
  }

  /// The cursors of each connection's events, in the order of arrival.
  var cursors: [[String]] { lock.withLock { seen } }
  var fewest: Int { lock.withLock { seen.map(\.count).min() ?? 0 } }

  func stop() {
    lock.withLock { isDone = true }
    ended.wait()
  }
}
