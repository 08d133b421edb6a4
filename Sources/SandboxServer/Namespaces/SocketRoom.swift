import Foundation
import JSONRPC

/// The open WebSockets of a namespace.
struct SocketRoom: Sendable {
  private(set) var entries: [Int: Entry] = [:]
  private var next = 1

  /// An open WebSocket.
  struct Entry: Sendable {
    /// The prefix of the socket's backend.
    let backend: String
    /// The decoded segments of the path, beginning with the backend's prefix.
    let segments: [String]
    /// The path in the upgrade request, as sent.
    let path: String
    /// The number of received text frames; `pings` counts the pings.
    var frames = 0
    var pings = 0
    fileprivate let commands: AsyncStream<SocketCommand>.Continuation
  }

  var isFull: Bool { entries.count >= SandboxLimits.sockets }

  /// The number of the next socket.
  var upcoming: Int { next }

  /// Adds a socket and returns the stream of its commands.
  mutating func enter(backend: String, segments: [String], path: String) -> AsyncStream<SocketCommand> {
    let (stream, commands) = AsyncStream<SocketCommand>.makeStream(
      bufferingPolicy: .bufferingOldest(SandboxLimits.socketBacklog))
    entries[next] = Entry(backend: backend, segments: segments, path: path, commands: commands)
    next += 1
    return stream
  }

  /// Passes a command to the socket's connection. Returns false if the socket has closed or its backlog is full.
  ///
  /// A socket with a full backlog is cut.
  @discardableResult mutating func order(_ command: SocketCommand, on socket: Int) -> Bool {
    guard let entry = entries[socket] else { return false }
    guard case .enqueued = entry.commands.yield(command) else {
      entry.commands.finish()
      return false
    }
    if case .close = command { entry.commands.finish() }
    return true
  }

  mutating func count(frame socket: Int) { entries[socket]?.frames += 1 }
  mutating func count(ping socket: Int) { entries[socket]?.pings += 1 }

  /// Removes the socket and returns the prefix of its backend; `nil` if it is unknown.
  mutating func leave(_ socket: Int) -> String? {
    guard let entry = entries.removeValue(forKey: socket) else { return nil }
    entry.commands.finish()
    return entry.backend
  }

  /// Cuts every connection.
  mutating func clear() {
    for entry in entries.values { entry.commands.finish() }
    entries = [:]
  }

  /// The sockets as JSON: `[{socket, path, frames, pings}]`, oldest first.
  var tree: JSON {
    .array(
      entries.sorted { $0.key < $1.key }.map { id, entry in
        [
          "socket": .number(Double(id)), "path": .string(entry.path), "frames": .number(Double(entry.frames)),
          "pings": .number(Double(entry.pings)),
        ]
      })
  }
}
