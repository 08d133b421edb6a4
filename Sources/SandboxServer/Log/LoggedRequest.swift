import Foundation

/// A log entry: a received request with its response status, or a received WebSocket frame.
struct LoggedRequest: Sendable {
  let index: Int
  /// The time of arrival by the sandbox's clock.
  let time: Date
  let request: SandboxRequest
  /// The status of the response; `nil` until it is decided, and for frames. A hanging request never gets one.
  var status: Int?
  /// The reason for the response.
  var note: String?
  /// The WebSocket that the request opened or that the frame came from.
  var socket: Int?

  /// The entry as JSON: `{index, time, method, path, query, headers, body, status}`, with `note` and `socket` if set.
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
