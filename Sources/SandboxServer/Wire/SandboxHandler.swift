import FlyingFox
import Foundation

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
