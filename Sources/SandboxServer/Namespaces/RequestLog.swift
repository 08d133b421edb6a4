import Foundation
import JSONRPC

/// The requests and frames that a namespace has received, in order. At its limit it removes the oldest entries.
struct RequestLog: Sendable {
  private var entries: [LoggedRequest] = []
  private var bytes = 0
  private var next = 0

  /// Returns the entries whose index is at least `first`.
  func entries(since first: Int = 0) -> ArraySlice<LoggedRequest> {
    guard let oldest = entries.first?.index else { return [] }
    return entries.dropFirst(max(0, min(first - oldest, entries.count)))
  }

  /// Adds a request, or a frame of `socket`, that has just arrived. Returns the index of the entry.
  mutating func begin(_ request: SandboxRequest, at time: Date, socket: Int? = nil) -> Int {
    let index = next
    next += 1
    entries.append(LoggedRequest(index: index, time: time, request: request, socket: socket))
    bytes += request.body.count
    // Trim only at a tenth above the limit, so that one removal covers many entries.
    if entries.count > SandboxLimits.log * 11 / 10 {
      remove(entries.count - SandboxLimits.log)
    }
    while bytes > SandboxLimits.logBytes, entries.count > 1 { remove(max(1, entries.count / 10)) }
    return index
  }

  /// Adds the outcome to an entry. Does nothing if the entry was removed in the meantime.
  mutating func finish(_ index: Int, status: Int?, note: String?, socket: Int? = nil) {
    guard let oldest = entries.first?.index, index >= oldest, index - oldest < entries.count else { return }
    entries[index - oldest].status = status
    entries[index - oldest].note = note
    if let socket { entries[index - oldest].socket = socket }
  }

  /// Removes all entries. The indices continue, so that a late `finish` can't change another request's entry.
  mutating func clear() {
    entries = []
    bytes = 0
  }

  private mutating func remove(_ count: Int) {
    bytes -= entries.prefix(count).reduce(0) { $0 + $1.request.body.count }
    entries.removeFirst(count)
  }
}

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
  var tree: JSON {
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
