import Foundation

extension ResponseScript {
  /// Returns the scripted response. `standard` returns the SDK's own response for an error status.
  func response(standard: (Int) -> SandboxResponse) -> SandboxResponse {
    var response =
      if let body { SandboxResponse(status, headers: Self.headers(of: body), body: body) } else if status >= 400 {
        standard(status)
      } else { SandboxResponse(status) }
    if let contentType { response.set("Content-Type", to: [contentType]) }
    response.note = "scripted"
    return response
  }

  private static func headers(of body: Data) -> [String: [String]] {
    body.isEmpty ? [:] : ["Content-Type": ["application/json"]]
  }

  /// The script as `GET /_control` lists it.
  var tree: JSONTree {
    .of([
      "route": .string(route.text),
      "times": remaining.map { .number(Double($0)) } ?? "forever",
      "status": passThrough ? nil : .number(Double(status)),
      "body": body.map { .string(String(decoding: $0, as: UTF8.self)) },
      "headers": headers.isEmpty ? nil : .object(headers.mapValues { .array($0.map { .string($0) }) }),
      "contentType": .optional(contentType),
      "delayMs": delay == 0 ? nil : .number(Double(delay)),
      "closeMidBody": closeMidBody ? true : nil,
      "hang": hang ? true : nil,
      "passThrough": passThrough ? true : nil,
    ])
  }
}
