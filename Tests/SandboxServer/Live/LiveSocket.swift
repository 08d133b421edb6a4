import Foundation
import JSONRPC

@testable import SandboxServer

/// A WebSocket client that sends nothing by itself, not even pongs.
actor LiveSocket {
  private let client: RawClient
  private var bytes = Data()

  /// A received frame, or the end of the connection.
  enum Arrival: Equatable, Sendable {
    case text(String)
    case pong(Data)
    case close(code: Int)
    /// The end of the connection.
    case end
  }

  private init(client: RawClient, rest: Data) {
    self.client = client
    bytes = rest
  }

  /// Opens a socket. Returns a failure with the response if its status is not 101.
  ///
  /// Throws `RawClient.Failure` if the server closes the connection without a response, and `Refused` if the accept
  /// value is wrong.
  static func open(
    _ sandbox: LiveSandbox, _ path: String, headers: [String: String] = [:]
  ) async throws -> Result<LiveSocket, Refused> {
    let client = try RawClient(port: sandbox.port)
    let handshake = [
      "Upgrade": "websocket", "Connection": "keep-alive, Upgrade", "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    ]
    try await client.send(
      LiveSandbox.bytes("GET", path, headers: handshake.merging(headers) { _, last in last }))
    var all = Data()
    while true {
      let chunk = try await client.read()
      guard !chunk.isEmpty else { throw RawClient.Failure(number: ECONNRESET) }
      all += chunk
      guard let response = RawResponse(all) else { continue }
      if response.status == 101 {
        // The key and this accept value are the example of RFC 6455, 1.3.
        guard response.headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" else {
          throw Refused(response: response)
        }
        return .success(LiveSocket(client: client, rest: response.body))
      }
      if response.isWhole { return .failure(Refused(response: response)) }
    }
  }

  struct Refused: Error {
    let response: RawResponse
  }

  func send(_ text: String) async throws { try await send(opcode: 1, Data(text.utf8)) }

  func send(_ tree: JSON) async throws { try await send(opcode: 1, tree.encoded) }

  /// Sends any frame, masked as RFC 6455 requires of clients.
  func send(opcode: UInt8, _ payload: Data, fin: Bool = true) async throws {
    let mask: [UInt8] = [1, 2, 3, 4]
    var frame = Data([(fin ? 0x80 : 0) | opcode])
    switch payload.count {
    case ...125: frame.append(0x80 | UInt8(payload.count))
    case ...65_535: frame += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xff)]
    default:
      frame.append(0x80 | 127)
      for byte in (0..<8).reversed() { frame.append(UInt8(payload.count >> (byte * 8) & 0xff)) }
    }
    frame += mask
    frame += payload.enumerated().map { $1 ^ mask[$0 % 4] }
    try await client.send(frame)
  }

  /// Returns the next frame, or the end. Throws after the connection's read timeout of 30 s.
  func next() async throws -> Arrival {
    while true {
      if let arrival = take() { return arrival }
      let chunk: Data
      do { chunk = try await client.read() } catch let failure as RawClient.Failure {
        guard failure.number == ECONNRESET else { throw failure }
        return .end
      }
      if chunk.isEmpty { return .end }
      bytes += chunk
    }
  }

  /// Returns the next frame as JSON. Throws `Unexpected` if it is not a text frame with JSON.
  func nextTree() async throws -> JSON {
    let arrival = try await next()
    guard case .text(let text) = arrival, let tree = JSON(parsing: Data(text.utf8)) else {
      throw Unexpected(arrival: arrival)
    }
    return tree
  }

  struct Unexpected: Error {
    let arrival: Arrival
  }

  private func take() -> Arrival? {
    let all = [UInt8](bytes)
    guard all.count >= 2 else { return nil }
    let extra = all[1] == 126 ? 2 : all[1] == 127 ? 8 : 0
    guard all.count >= 2 + extra else { return nil }
    let length = extra == 0 ? Int(all[1]) : all[2..<2 + extra].reduce(0) { $0 << 8 | Int($1) }
    guard all.count >= 2 + extra + length else { return nil }
    let payload = Data(all[(2 + extra)..<(2 + extra + length)])
    bytes = Data(all[(2 + extra + length)...])
    switch all[0] {
    case 0x81: return .text(String(decoding: payload, as: UTF8.self))
    case 0x8A: return .pong(payload)
    case 0x88: return .close(code: payload.count < 2 ? 0 : Int(payload[0]) << 8 | Int(payload[1]))
    default: return nil
    }
  }
}
