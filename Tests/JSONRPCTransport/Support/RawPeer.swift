import Glibc
import JSONRPC

@testable import JSONRPCTransport

/// A client that sends and receives raw bytes on a socket, without our client code. It never blocks a thread.
final class RawPeer {
  enum Event: Equatable {
    case line(String)
    /// Bytes that are no message in the framing.
    case malformed
    case end
  }

  private(set) var descriptor: CInt
  private let framing: Framing
  private var framer: Framer
  private var isOver = false

  init(_ path: String, framing: Framing = .lines) async throws {
    self.framing = framing
    framer = Framer(limit: 64 << 20, framing: framing)
    descriptor = try await ClientSocket.connect(path: path, timeout: .seconds(10))
  }

  /// Takes over a connected socket that does not block.
  init(descriptor: CInt) {
    self.descriptor = descriptor
    framing = .lines
    framer = Framer(limit: 64 << 20, framing: .lines)
  }

  deinit { close() }

  func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  func endOutput() { shutdown(descriptor, CInt(SHUT_WR)) }

  /// Sends the whole text. Returns false if the socket fails, as after the server has closed the connection.
  @discardableResult
  func send(_ text: String) async throws -> Bool { try await send(bytes: Array(text.utf8)) }

  /// Sends a text as one message in the peer's framing.
  @discardableResult
  func send(message text: String) async throws -> Bool {
    try await send(framing == .lines ? "\(text)\n" : "Content-Length: \(text.utf8.count)\r\n\r\n\(text)")
  }

  @discardableResult
  func send(bytes: [UInt8]) async throws -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = trySend(bytes[sent...])
      if count > 0 {
        sent += count
      } else if errno == EAGAIN {
        try await Task.sleep(for: .milliseconds(1))
      } else {
        return false
      }
    }
    return true
  }

  /// Returns the number of bytes that the socket takes now, or a negative number with `errno` set.
  func trySend(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
  }

  /// Reads and drops at most `count` bytes that have arrived.
  func drop(_ count: Int) {
    var chunk = [UInt8](repeating: 0, count: count)
    _ = recv(descriptor, &chunk, count, 0)
  }

  /// Returns the next line, or the end of the connection.
  func next() async throws -> Event {
    try await eventually("a line from the server") { try receive() }
  }

  /// Returns the next line as JSON. Throws `NotInTime` at the end of the connection.
  func json() async throws -> JSON {
    guard case .line(let text) = try await next() else { throw NotInTime(description: "the connection has ended") }
    return try JSONParser.parse(text)
  }

  private func receive() throws -> Event? {
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      switch framer.next() {
      case .frame(let line)?: return .line(String(decoding: line, as: UTF8.self))
      case .tooLarge?, .malformed?, .foreign?: return .malformed
      case nil: break
      }
      if isOver { return .end }
      let count = recv(descriptor, &chunk, chunk.count, 0)
      if count > 0 {
        framer.append(chunk[..<count])
      } else if count < 0, errno == EAGAIN {
        return nil
      } else {
        framer.finish()
        isOver = true
      }
    }
  }
}
