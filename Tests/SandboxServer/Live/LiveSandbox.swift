import Foundation
import JSONRPC

@testable import SandboxServer

/// A sandbox that listens on a port while a test body runs.
struct LiveSandbox {
  let port: UInt16
  let server: SandboxServer

  static func run<T>(_ body: (LiveSandbox) async throws -> T) async throws -> T {
    let server = try SandboxServer()
    let sandbox = LiveSandbox(port: try await server.start(), server: server)
    do {
      let result = try await body(sandbox)
      await server.stop()
      return result
    } catch {
      await server.stop()
      throw error
    }
  }

  static func bytes(
    _ method: String, _ path: String, _ body: Data = Data(), headers: [String: String] = [:]
  ) -> Data {
    var lines = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1", "Content-Length: \(body.count)"]
    lines += headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
  }

  /// Sends a request on a new connection and returns the response.
  func send(
    _ method: String, _ path: String, _ body: JSON? = nil, headers: [String: String] = [:]
  ) async throws -> RawResponse {
    let client = try RawClient(port: port)
    try await client.send(Self.bytes(method, path, body?.encoded ?? Data(), headers: headers))
    return try await client.readResponse()
  }
}
