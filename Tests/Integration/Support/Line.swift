import Foundation
import Glibc
import JSONRPC

/// A raw connection to a control socket: bytes out, messages in, each with a deadline.
final class Line: @unchecked Sendable {
  let descriptor: Int32
  /// The desk, which the connection keeps alive, and so the daemon.
  private let owner: AnyObject?
  /// Whether messages have headers, as in the Language Server Protocol; else they are lines.
  private let hasHeaders: Bool
  private var buffer: [UInt8] = []
  private var nextId = 0
  private var answers: [Int: JSON] = [:]
  /// The methods of the requests that wait for an answer.
  private var methods: [Int: String] = [:]
  /// The notifications and requests that have arrived and that no test has read yet.
  private(set) var notifications: [JSON] = []

  init(_ path: String, owner: AnyObject? = nil, hasHeaders: Bool = false) throws {
    self.owner = owner
    self.hasHeaders = hasHeaders
    descriptor = socket(AF_UNIX, Program.streamSocket, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8) + [0]) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    // All properties are set by now, so `deinit` closes the descriptor. Closing it here, too, could close another
    // test's.
    guard status == 0 else {
      throw Program.Failure(description: "can't connect to \(path): \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(descriptor) }

  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      sent += count
    }
  }

  /// Sends a message in the framing of the connection.
  func send(message: JSON) {
    let text = JSONWriter.bytes(of: message)
    send(hasHeaders ? Array("Content-Length: \(text.count)\r\n\r\n".utf8) + text : text + [10])
  }

  func halfClose() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// Returns the text of the next message, or `nil` at the end of the stream. Throws when none comes in time.
  func line(within seconds: Double = 20) throws -> String? {
    let end = Date().addingTimeInterval(seconds)
    while true {
      if let text = try hasHeaders ? bufferedText() : bufferedLine() { return text }
      let left = end.timeIntervalSinceNow
      guard left > 0 else { throw Program.Failure(description: "no line came in time") }
      var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&poller, 1, Int32(left * 1000) + 1) > 0 else { continue }
      var chunk = [UInt8](repeating: 0, count: 65_536)
      let count = recv(descriptor, &chunk, chunk.count, 0)
      if count <= 0 { return nil }
      buffer += chunk[..<count]
    }
  }

  private func bufferedLine() -> String? {
    guard let index = buffer.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let line = String(decoding: buffer[..<index], as: UTF8.self)
    buffer.removeSubrange(...index)
    return line
  }

  /// Returns the text after the header, which must be exactly one Content-Length.
  private func bufferedText() throws -> String? {
    guard let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    let header = String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
    guard header.hasPrefix("Content-Length: "), let count = Int(header.dropFirst("Content-Length: ".count)) else {
      throw Program.Failure(description: "a message has the header \(header)")
    }
    guard buffer.count - end.upperBound >= count else { return nil }
    defer { buffer.removeSubrange(..<(end.upperBound + count)) }
    return String(decoding: buffer[end.upperBound..<(end.upperBound + count)], as: UTF8.self)
  }

  func json(within seconds: Double = 20) throws -> JSON? {
    let message = try line(within: seconds).map { try JSONParser.parse($0) }
    if let message { record(message) }
    return message
  }

  @discardableResult
  func begin(_ method: String, _ params: JSON = [:]) -> Int {
    nextId += 1
    methods[nextId] = method
    send(message: ["jsonrpc": "2.0", "id": JSON(nextId), "method": .string(method), "params": params])
    return nextId
  }

  /// Returns the response to a request. Keeps the notifications that arrive before it.
  func answer(_ id: Int, within seconds: Double = 20) throws -> JSON {
    if let known = answers.removeValue(forKey: id) { return known }
    while let message = try json(within: seconds) {
      if message["method"] != nil {
        notifications.append(message)
      } else if let other = message["id"]?.intValue {
        if other == id { return message }
        answers[other] = message
      }
    }
    throw Program.Failure(description: "the connection ended without an answer")
  }

  /// Returns whether a request is answered. Throws when the connection neither answers it nor ends in time.
  func isAnswered(_ id: Int) throws -> Bool {
    if (try? answer(id)) != nil { return true }
    guard try line() == nil else { throw Program.Failure(description: "a request has no answer") }
    return false
  }

  /// Records a message for the check against the contract.
  private func record(_ message: JSON) {
    if let name = message["method"]?.stringValue, let params = message["params"] {
      AnswerRecord.add(name, params)
    } else if let id = message["id"]?.intValue, let name = methods.removeValue(forKey: id) {
      if let result = message["result"] { AnswerRecord.add(name, result) }
      if let error = message["error"] { AnswerRecord.add(name, error: error) }
    }
  }

  /// Makes a call and returns its result, or throws its error.
  @discardableResult
  func call(_ method: String, _ params: JSON = [:], within seconds: Double = 20) throws -> JSON {
    let message = try answer(begin(method, params), within: seconds)
    if let error = message["error"].flatMap({ RPCError(json: $0) }) { throw error }
    return message["result"] ?? .null
  }

  /// Makes a call and returns its error. Throws when the call succeeds.
  func failure(_ method: String, _ params: JSON = [:], within seconds: Double = 20) throws -> RPCError {
    let message = try answer(begin(method, params), within: seconds)
    guard let error = message["error"].flatMap({ RPCError(json: $0) }) else {
      throw Program.Failure(description: "\(method) succeeded: \(JSONWriter.text(of: message))")
    }
    return error
  }

  /// Returns the params of the next notification of a method.
  func notification(_ method: String, within seconds: Double = 20) throws -> JSON {
    if let index = notifications.firstIndex(where: { $0["method"]?.stringValue == method }) {
      return notifications.remove(at: index)["params"] ?? .null
    }
    while let message = try json(within: seconds) {
      if message["method"]?.stringValue == method { return message["params"] ?? .null }
      notifications.append(message)
    }
    throw Program.Failure(description: "the connection ended without \(method)")
  }
}
