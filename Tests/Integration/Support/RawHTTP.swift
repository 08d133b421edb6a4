import Foundation
import Glibc

/// An HTTP connection over TCP on loopback that sends raw bytes, also those that no library would send.
struct RawHTTP {
  let descriptor: Int32

  struct Answer {
    var status: Int
    var headers: [String: String]
    var body: String
  }

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Program.streamSocket, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    guard status == 0 else {
      close(descriptor)
      throw Program.Failure(description: "can't connect to port \(port)")
    }
  }

  /// Returns a port that was free, and the socket that holds it.
  static func freePort() throws -> (port: UInt16, holder: Int32) {
    let holder = socket(AF_INET, Program.streamSocket, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(holder, $0, size) == 0 ? getsockname(holder, $0, &size) : -1
      }
    }
    guard status == 0 else { throw Program.Failure(description: "no port is free") }
    return (UInt16(bigEndian: address.sin_port), holder)
  }

  func end() { close(descriptor) }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
  }

  /// Sends a request, and reads the response to the end of the connection.
  func ask(
    _ method: String = "GET", _ path: String = "/metrics", host: String? = "localhost", accept: String? = nil
  ) throws -> Answer {
    defer { end() }
    let host = host.map { "Host: \($0)\r\n" } ?? ""
    let accept = accept.map { "Accept: \($0)\r\n" } ?? ""
    send("\(method) \(path) HTTP/1.1\r\n\(host)\(accept)\r\n")
    let text = try rest()
    let parts = text.components(separatedBy: "\r\n\r\n")
    let lines = parts[0].components(separatedBy: "\r\n")
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let pair = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      if pair.count == 2 { headers[pair[0].lowercased()] = pair[1] }
    }
    return Answer(
      status: lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0, headers: headers,
      body: parts.dropFirst().joined(separator: "\r\n\r\n"))
  }

  /// Returns the text that arrives until the peer closes. Throws when the peer does not close in time.
  func rest(within seconds: Double = 20) throws -> String {
    let end = Date().addingTimeInterval(seconds)
    var bytes: [UInt8] = []
    while true {
      let left = end.timeIntervalSinceNow
      guard left > 0 else { throw Program.Failure(description: "the connection did not end") }
      var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&poller, 1, Int32(left * 1000) + 1) > 0 else { continue }
      var chunk = [UInt8](repeating: 0, count: 65_536)
      let count = recv(descriptor, &chunk, chunk.count, 0)
      if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
  }
}
