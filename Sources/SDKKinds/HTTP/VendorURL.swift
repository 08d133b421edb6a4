import SDKInstances

/// The parts of a vendor's URL.
struct VendorURL: Hashable {
  /// The protocol that a URL is used with.
  enum Spoken {
    case http
    case webSocket
  }

  /// Whether the connection is encrypted.
  var isSecure: Bool
  /// The host: a name in lower case, or an address without brackets.
  var host: String
  /// The port; the scheme's default unless given.
  var port: UInt16
  /// The path with its query; begins with a slash.
  var target: String

  /// Splits a URL. `nil` for another scheme and for a URL that `URLRule` can't read. A fragment is dropped.
  init?(_ url: String, _ spoken: Spoken) {
    guard let parts = URLRule.parts(url) else { return nil }
    switch (spoken, parts.scheme) {
    case (.http, "https"), (.webSocket, "wss"): isSecure = true
    case (.http, "http"), (.webSocket, "ws"): isSecure = false
    default: return nil
    }
    host = parts.host
    port = parts.port ?? (isSecure ? 443 : 80)
    let path = url.dropFirst(parts.scheme.count + 3).drop { $0 != "/" && $0 != "?" && $0 != "#" }.prefix { $0 != "#" }
    target = path.first == "/" ? String(path) : "/" + path
  }

  /// The server name for TLS; `nil` for an address.
  var serverName: String? { NetworkAddress(literal: host) == nil ? host : nil }

  /// The value of the header `Host`.
  var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
  }
}
