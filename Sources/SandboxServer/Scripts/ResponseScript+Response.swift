import Foundation

extension ResponseScript {
  /// The scripted response; `errorBody` is what the SDK's backend says with an error status.
  func response(errorBody: (Int) -> JSONTree) -> SandboxResponse {
    let body = body ?? (status >= 400 ? errorBody(status).encoded : Data())
    var response = SandboxResponse(status, body: body, note: "scripted")
    if !body.isEmpty || contentType != nil {
      response.headers["Content-Type"] = [contentType ?? "application/json"]
    }
    return response
  }

  /// As `GET /_control` lists it.
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
