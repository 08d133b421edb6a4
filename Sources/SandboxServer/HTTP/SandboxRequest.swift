import Foundation

/// A request as the sandbox's logic sees it: read whole, free of the HTTP library.
struct SandboxRequest: Sendable {
  var method: String
  /// As it stood in the request line, percent-encoded, without the query.
  var path: String
  /// What follows `?`, as it stood; empty if nothing does.
  var query: String = ""
  /// Names as sent.
  var headers: [String: String] = [:]
  var body = Data()

  /// The value of a header, whatever the case of its name.
  func header(_ name: String) -> String? {
    let wanted = name.lowercased()
    return headers.first { $0.key.lowercased() == wanted }?.value
  }

  /// The path's segments, decoded; `nil` for a path that isn't absolute or is wrongly encoded.
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

  /// The query's items, decoded; the first of each name.
  var queryItems: [String: String] {
    var items: [String: String] = [:]
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard let name = parts.first?.removingPercentEncoding, items[name] == nil else { continue }
      items[name] = parts.count > 1 ? parts[1].removingPercentEncoding ?? parts[1] : ""
    }
    return items
  }

  /// Where the client believes the sandbox to be, for the URLs that responses contain.
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
