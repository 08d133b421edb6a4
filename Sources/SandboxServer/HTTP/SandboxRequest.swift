import Foundation

/// A completely read request, independent of the HTTP library.
struct SandboxRequest: Sendable {
  var method: String
  /// The path as sent, percent-encoded, without the query.
  var path: String
  /// The undecoded query, without `?`; empty if there is none.
  var query: String = ""
  /// The headers by their names as sent.
  var headers: [String: String] = [:]
  var body = Data()

  /// Returns the value of a header, ignoring the case of its name.
  func header(_ name: String) -> String? {
    let wanted = name.lowercased()
    return headers.first { $0.key.lowercased() == wanted }?.value
  }

  /// The decoded segments of the path; `nil` if the path is not absolute or is wrongly encoded.
  var segments: [String]? {
    guard path.hasPrefix("/") else { return nil }
    var segments: [String] = []
    for part in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      guard let segment = String(part).removingPercentEncoding else { return nil }
      segments.append(segment)
    }
    if segments.last == "" { segments.removeLast() }
    return segments
  }

  /// The decoded items of the query. Of several items with the same name, only the first is kept.
  var queryItems: [String: String] {
    var items: [String: String] = [:]
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard let name = parts.first?.removingPercentEncoding, items[name] == nil else { continue }
      items[name] = parts.count > 1 ? parts[1].removingPercentEncoding ?? parts[1] : ""
    }
    return items
  }

  /// The sandbox's origin for URLs in responses: `http://` and the `Host` header, or `http://127.0.0.1` without a valid
  /// one.
  var origin: String {
    let allowed = { (byte: UInt8) in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"): true
      case UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"): true
      default: false
      }
    }
    guard let host = header("Host"), !host.isEmpty, host.utf8.allSatisfy(allowed) else { return "http://127.0.0.1" }
    return "http://\(host)"
  }
}
