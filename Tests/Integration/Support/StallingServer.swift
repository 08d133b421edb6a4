import Foundation
import Glibc

/// An HTTP server on loopback that answers every request with the head and part of a body, and then sends nothing more.
final class StallingServer: Sendable {
  let port: UInt16

  /// The state that the thread shares with the server. The thread does not keep the server alive.
  private final class Shared: @unchecked Sendable {
    private let lock = NSLock()
    private var requests = 0
    private var isOver = false
    var count: Int { lock.withLock { requests } }
    func add() { lock.withLock { requests += 1 } }
    func end() { lock.withLock { isOver = true } }
    var hasEnded: Bool { lock.withLock { isOver } }
  }

  private let shared = Shared()

  init() throws {
    let listener = try RawHTTP.freePort()
    guard listen(listener.holder, 64) == 0 else { throw Program.Failure(description: "no socket to listen on") }
    port = listener.port
    let shared = shared
    Thread {
      var open: [pollfd] = [pollfd(fd: listener.holder, events: Int16(POLLIN), revents: 0)]
      while !shared.hasEnded {
        guard poll(&open, nfds_t(open.count), 50) > 0 else { continue }
        for index in open.indices.reversed() where open[index].revents != 0 {
          if index == 0 {
            let connection = accept(listener.holder, nil, nil)
            if connection >= 0 { open.append(pollfd(fd: connection, events: Int16(POLLIN), revents: 0)) }
          } else if !Self.serve(open[index].fd, shared) {
            close(open[index].fd)
            open.remove(at: index)
          }
        }
      }
      for entry in open { close(entry.fd) }
    }.start()
  }

  deinit { shared.end() }

  /// The number of requests that have arrived.
  var requests: Int { shared.count }

  /// Responds to a request on a connection. Returns whether the connection is still open.
  private static func serve(_ connection: Int32, _ shared: Shared) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = recv(connection, &bytes, bytes.count, 0)
    guard count > 0 else { return false }
    guard String(decoding: bytes[..<count], as: UTF8.self).contains("HTTP/1.1\r\n") else { return true }
    shared.add()
    let answer = Array("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"a\":".utf8)
    _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
    return true
  }
}
