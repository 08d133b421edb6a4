import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// An open WebSocket of a sandbox without a network.
struct TestSocket {
  let socket: OpenSocket

  func send(_ tree: JSON) async { await socket.receive(String(decoding: tree.encoded, as: UTF8.self)) }

  /// Returns the next command of the sandbox for the connection; `nil` after the last.
  func next() async -> SocketCommand? {
    for await command in socket.commands { return command }
    return nil
  }

  /// Returns the next text as JSON. Records an issue if the next command sends no text.
  func nextTree(sourceLocation: SourceLocation = #_sourceLocation) async -> JSON {
    guard case .send(let text, _)? = await next() else {
      Issue.record("no frame", sourceLocation: sourceLocation)
      return .null
    }
    return JSON(parsing: Data(text.utf8)) ?? .string(text)
  }

  /// Sends a frame and returns the first frame that comes back.
  func ask(_ tree: JSON, sourceLocation: SourceLocation = #_sourceLocation) async -> JSON {
    await send(tree)
    return await nextTree(sourceLocation: sourceLocation)
  }

  /// Ends the connection and returns the remaining commands.
  func rest() async -> [SocketCommand] {
    await socket.ended()
    return await socket.commands.reduce(into: []) { $0.append($1) }
  }
}

extension TestSandbox {
  static let handshake = [
    "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Host": "127.0.0.1:8000",
  ]

  func upgrade(_ path: String, headers: [String: String] = [:]) async -> SandboxReply {
    let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
    return await registry.reply(
      to: SandboxRequest(
        method: "GET", path: namespace + parts[0], query: parts.count > 1 ? parts[1] : "",
        headers: Self.handshake.merging(headers) { _, last in last }))
  }

  /// Opens a socket. Records an issue and throws `NotOpened` if the upgrade is refused.
  func open(
    _ path: String, headers: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> TestSocket {
    guard case .upgrade(let socket) = await upgrade(path, headers: headers) else {
      Issue.record("not opened", sourceLocation: sourceLocation)
      throw NotOpened()
    }
    return TestSocket(socket: socket)
  }

  struct NotOpened: Error {}

  /// Returns the frames in the log: socket number, body and note of each.
  func frames() async throws -> [(socket: Double?, body: JSON?, note: String?)] {
    guard case .array(let entries)? = try await send("GET", "/_log").tree?["requests"] else { return [] }
    return entries.filter { $0["method"] == "WS" }.map { entry in
      let body = entry["body"]?.stringValue.flatMap { JSON(parsing: Data($0.utf8)) }
      return (entry["socket"]?.doubleValue, body, entry["note"]?.stringValue)
    }
  }
}
