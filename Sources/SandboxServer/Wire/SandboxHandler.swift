import FlyingFox
import Foundation

/// Where the HTTP library and the sandbox's logic meet: every request comes through here.
struct SandboxHandler: HTTPHandler {
  let namespaces: NamespaceRegistry

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
    return ReplyWriter.write(await namespaces.reply(to: received), to: request.method)
  }
}
