import Foundation

/// One received request in the log, and what was answered once that is known.
struct LoggedRequest: Sendable {
  let index: Int
  /// By the sandbox's clock.
  let time: Date
  let request: SandboxRequest
  /// `nil` until the response is decided: a request that hangs keeps it so.
  var status: Int?
  /// Why the sandbox decided so.
  var note: String?

  /// `{index, time, method, path, query, headers, body, status}`, and `note` where there is one.
  var tree: JSONTree {
    .of([
      "index": .number(Double(index)),
      "time": .number(time.timeIntervalSince1970),
      "method": .string(request.method),
      "path": .string(request.path),
      "query": .string(request.query),
      "headers": .object(request.headers.mapValues { .string($0) }),
      "body": .string(String(decoding: request.body, as: UTF8.self)),
      "status": status.map { .number(Double($0)) } ?? .null,
      "note": .optional(note),
    ])
  }
}
