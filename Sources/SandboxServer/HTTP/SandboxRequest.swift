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

extension SandboxRequest {
  /// Whether the client requests a WebSocket.
  var isUpgrade: Bool { header("Upgrade")?.lowercased() == "websocket" }

  /// The fault of the opening handshake (RFC 6455, 4.2.1); `nil` for a valid one.
  var handshakeMistake: String? {
    let connection = (header("Connection") ?? "").lowercased().split(separator: ",")
      .map { $0.trimmingCharacters(in: .whitespaces) }
    if method.uppercased() != "GET" { return "an upgrade is a GET" }
    if header("Host") == nil { return "Host is missing" }
    if !connection.contains("upgrade") { return "Connection does not include upgrade" }
    if header("Sec-WebSocket-Key").flatMap({ Data(base64Encoded: $0) })?.count != 16 {
      return "Sec-WebSocket-Key is not base64 of 16 bytes"
    }
    return header("Sec-WebSocket-Version") == "13" ? nil : "Sec-WebSocket-Version is not 13"
  }
}

/// The encoding `application/x-www-form-urlencoded`, which clients send to the token endpoints.
enum FormBody {
  static let contentType = "application/x-www-form-urlencoded"

  /// Returns the fields of a form by name, and the first of several with one name. Returns `nil` if the content type is
  /// not that of a form, or the encoding is wrong.
  static func items(_ body: Data, contentType: String?) -> [String: String]? {
    let type = (contentType ?? "").split(separator: ";").first?.trimmingCharacters(in: .whitespaces)
    guard type?.lowercased() == Self.contentType, let text = String(bytes: body, encoding: .utf8) else { return nil }
    var items: [String: String] = [:]
    for pair in text.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = parts.first.flatMap(decode), let value = parts.count > 1 ? decode(parts[1]) : "" else {
        return nil
      }
      if items[name] == nil { items[name] = value }
    }
    return items
  }

  /// Returns the encoded fields, sorted by name.
  static func encode(_ items: [String: String]) -> Data {
    let pairs = items.sorted { $0.key < $1.key }.map { "\(escaped($0.key))=\(escaped($0.value))" }
    return Data(pairs.joined(separator: "&").utf8)
  }

  private static func decode(_ text: Substring) -> String? {
    text.replacing("+", with: " ").removingPercentEncoding
  }

  private static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.intersection(.urlQueryAllowed)) ?? ""
  }
}
