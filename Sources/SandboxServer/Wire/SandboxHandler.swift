import FlyingFox
import Foundation
import JSONRPC

/// The entry point for all requests, between the HTTP library and the sandbox's logic.
struct SandboxHandler: HTTPHandler {
  let namespaces: NamespaceRegistry
  let jobs: SocketJobs

  func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard let received = try await RequestReader.read(request) else {
      let refusal = SandboxResponse(
        413,
        json: [
          "error": [
            "code": "body_too_large", "description": .string("At most \(SandboxLimits.body) bytes are taken"),
          ]
        ])
      return ReplyWriter.write(.sendAndClose(refusal), to: request.method)
    }
    let reply = await namespaces.reply(to: received)
    if case .upgrade(let socket) = reply {
      let handler = SocketHandler(socket: socket, jobs: jobs)
      return try await WebSocketHTTPHandler(handler: handler).handleRequest(request)
    }
    return ReplyWriter.write(reply, to: request.method)
  }
}

/// A converter of the HTTP library's requests, with their bodies, to the sandbox's.
enum RequestReader {
  /// Returns the request; `nil` if its body is larger than `SandboxLimits.body`.
  ///
  /// In that case it reads up to `SandboxLimits.drain` bytes of the rest, so that the client receives the refusal.
  static func read(_ request: HTTPRequest) async throws -> SandboxRequest? {
    var body = Data()
    if (request.bodySequence.count ?? 0) > SandboxLimits.body {
      try await drain(request)
      return nil
    }
    for try await chunk in request.bodySequence {
      body.append(chunk)
      if body.count > SandboxLimits.body {
        try await drain(request)
        return nil
      }
    }
    let headers = request.headers.keys.reduce(into: [String: String]()) { headers, name in
      headers[name.rawValue] = request.headers[name]
    }
    return SandboxRequest(
      method: request.method.rawValue, path: request.target.path(), query: request.target.query(), headers: headers,
      body: body)
  }

  private static func drain(_ request: HTTPRequest) async throws {
    var drained = 0
    for try await chunk in request.bodySequence {
      drained += chunk.count
      if drained > SandboxLimits.drain { return }
    }
  }
}
