import Foundation

/// A response that the sandbox's logic has decided on.
struct SandboxResponse: Equatable, Sendable {
  var status: Int
  /// Each name with its values, in the order in which they are sent.
  var headers: [String: [String]]
  var body: Data
  /// Why, for whoever reads the log; the vendor's wire format keeps it to itself.
  var note: String?

  init(_ status: Int, headers: [String: [String]] = [:], body: Data = Data(), note: String? = nil) {
    self.status = status
    self.headers = headers
    self.body = body
    self.note = note
  }

  init(_ status: Int, json: JSONTree, note: String? = nil) {
    self.init(status, headers: ["Content-Type": ["application/json"]], body: json.encoded, note: note)
  }

  /// Sets a header, replacing one of the same name in another case.
  mutating func set(_ name: String, to values: [String]) {
    headers = headers.filter { $0.key.lowercased() != name.lowercased() }
    headers[name] = values
  }
}
