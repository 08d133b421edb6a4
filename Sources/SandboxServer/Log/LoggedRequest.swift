import Foundation

/// One received request in the log, and what was answered once that is known; or one received WebSocket frame.
struct LoggedRequest: Sendable {
  let index: Int
  /// By the sandbox's clock.
  let time: Date
  let request: SandboxRequest
  /// `nil` until the response is decided: a request that hangs keeps it so.
  var status: Int?
  /// Why the sandbox decided so.
  var note: String?
  /// The WebSocket that the request opened or that the frame came from.
  var socket: Int?

  /// `{index, time, method, path, query, headers, body, status}`, and `note` and `socket` where there is one.
  ///
  /// A frame has the method `WS`, its socket's path, its text as body and no status.
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
      "socket": socket.map { .number(Double($0)) },
    ])
  }
}
