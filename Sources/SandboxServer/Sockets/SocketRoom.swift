import Foundation

/// The open WebSockets of a namespace.
struct SocketRoom: Sendable {
  private(set) var entries: [Int: Entry] = [:]
  private var next = 1

  /// One open socket.
  struct Entry: Sendable {
    /// The prefix of the backend that it belongs to.
    let backend: String
    /// Decoded, with the backend's prefix first.
    let segments: [String]
    /// As it stood in the upgrade's request line.
    let path: String
    /// How many text frames have come in, and how many pings.
    var frames = 0
    var pings = 0
    fileprivate let commands: AsyncStream<SocketCommand>.Continuation
  }

  var isFull: Bool { entries.count >= SandboxLimits.sockets }

  /// The number that the next socket gets.
  var upcoming: Int { next }

  /// Lets a socket in and gives what will be done to it.
  mutating func enter(backend: String, segments: [String], path: String) -> AsyncStream<SocketCommand> {
    let (stream, commands) = AsyncStream<SocketCommand>.makeStream(
      bufferingPolicy: .bufferingOldest(SandboxLimits.socketBacklog))
    entries[next] = Entry(backend: backend, segments: segments, path: path, commands: commands)
    next += 1
    return stream
  }

  /// Has a command carried out; gives false when the socket is gone, or takes in so little that it is given up.
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

  /// Takes the socket out; gives the backend it belonged to.
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

  /// `[{socket, path, frames, pings}]`, oldest first.
  var tree: JSONTree {
    .array(
      entries.sorted { $0.key < $1.key }.map { id, entry in
        [
          "socket": .number(Double(id)), "path": .string(entry.path), "frames": .number(Double(entry.frames)),
          "pings": .number(Double(entry.pings)),
        ]
      })
  }
}
