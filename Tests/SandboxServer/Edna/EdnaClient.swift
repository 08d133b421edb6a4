import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// An edna client's frames and headers, for the tests.
struct EdnaClient {
  let sandbox: TestSandbox
  var id = "alice"
  var token: String?

  /// Returns the headers of a client: its id, `X-Client-Token` if there is a `proof`, and `Authorization` if there is a
  /// token. Members of `more` take precedence.
  func headers(proof: String? = nil, _ more: [String: String] = [:]) -> [String: String] {
    var headers = ["X-Ext-Client-ID": id]
    if let proof {
      headers["X-Client-Token"] = "\(proof):\(id)".addingPercentEncoding(withAllowedCharacters: .alphanumerics)
      headers["X-Header-Encoding"] = "url"
    }
    if let token { headers["Authorization"] = token }
    return headers.merging(more) { _, last in last }
  }

  func get(_ path: String, _ headers: [String: String]) async throws -> SandboxResponse {
    var request = SandboxRequest(method: "GET", path: path, headers: headers)
    request.headers["Host"] = "127.0.0.1:8000"
    guard case .send(let response) = await sandbox.registry.reply(to: request) else {
      Issue.record("no response")
      return SandboxResponse(0)
    }
    return response
  }

  func open() async throws -> TestSocket {
    try await sandbox.open("/ed/ws", headers: token.map { ["Authorization": $0] } ?? [:])
  }

  func register(_ more: [String: JSON] = [:]) -> JSON {
    let data: [String: JSON] = [
      "clientId": .string(id), "providerUid": "demo_provider", "deviceUid": "d1", "pnsPushAddress": "p1",
    ]
    return [
      "action": "registerDevice", "correlationId": "c-register",
      "data": .object(data.merging(more) { _, last in last }.filter { $0.value != .null }),
    ]
  }

  func message(_ type: String, _ address: String, _ more: [String: JSON] = [:]) -> JSON {
    let content: [String: JSON] = ["type": .string(type), "clientId": .string(id)]
    return [
      "action": "sendMessage", "correlationId": .string("c-\(type)"),
      "data": [
        "deviceAddress": .string(address), "important": false,
        "content": .object(content.merging(more) { _, last in last }),
      ],
    ]
  }

  /// Registers the device and returns its address.
  func registered(_ socket: TestSocket) async throws -> String {
    try #require(await socket.ask(register())["data"]?["deviceAddress"]?.stringValue)
  }

  /// Performs all three steps: registration, `INIT_CHAT` and `CLIENT_INFO`. Returns the socket and the device's
  /// address.
  func connected(_ info: [String: JSON] = [:]) async throws -> (socket: TestSocket, address: String) {
    let socket = try await open()
    let address = try await registered(socket)
    for (type, more) in [("INIT_CHAT", [:]), ("CLIENT_INFO", info)] {
      #expect(await socket.ask(message(type, address, more))["data"]?["status"] == "sent")
    }
    return (socket, address)
  }

  func state() async throws -> JSON {
    try #require(try await sandbox.send("GET", "/_state").tree?["ed"])
  }
}
