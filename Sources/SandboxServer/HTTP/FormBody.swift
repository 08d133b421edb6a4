import Foundation

/// The encoding `application/x-www-form-urlencoded`, which clients send to the token endpoints.
enum FormBody {
  static let contentType = "application/x-www-form-urlencoded"

  /// Returns the fields, of several with the same name the first; `nil` for another content type or a wrong encoding.
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
