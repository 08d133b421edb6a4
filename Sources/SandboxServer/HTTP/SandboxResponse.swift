import Foundation
import JSONRPC

/// A response of the sandbox's logic, independent of the HTTP library.
struct SandboxResponse: Equatable, Sendable {
  var status: Int
  /// The values of each header by its name, in the order in which they are sent.
  var headers: [String: [String]]
  var body: Data
  /// The reason for the response, which only the log shows.
  var note: String?
  /// What follows the head in place of a body; `nil` for an ordinary response.
  var stream: ResponseStream?

  init(_ status: Int, headers: [String: [String]] = [:], body: Data = Data(), note: String? = nil) {
    self.status = status
    self.headers = headers
    self.body = body
    self.note = note
  }

  init(_ status: Int, json: JSON, note: String? = nil) {
    self.init(status, headers: ["Content-Type": ["application/json"]], body: json.encoded, note: note)
  }

  /// Sets a header and removes one of the same name in another case.
  mutating func set(_ name: String, to values: [String]) {
    headers = headers.filter { $0.key.lowercased() != name.lowercased() }
    headers[name] = values
  }
}

/// A stream of server-sent events that follows the head of a response.
struct ResponseStream: Equatable, Sendable {
  /// The token by whose right it is read. The stream ends with it.
  let token: String
  /// The number of the last event that was sent.
  var after: Int
  /// The milliseconds of silence after which a ping is sent.
  let pingMilliseconds: Int
}
