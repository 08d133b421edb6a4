import FlyingFox
import Foundation

/// Converts the HTTP library's request, with its body, into the sandbox's.
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
