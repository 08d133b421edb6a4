import SDKInstances

/// Where a vendor's URL leads.
struct VendorURL: Hashable {
  /// What is spoken there.
  enum Spoken {
    case http
    case webSocket
  }

  /// Whether the connection is encrypted.
  var isSecure: Bool
  /// A name in lower case or an address, without brackets.
  var host: String
  /// The port, the scheme's own unless given.
  var port: UInt16
  /// The path with its query; begins with a slash.
  var target: String

  /// The parts of a URL; `nil` for one of another scheme and for what `URLRule` can't read. A fragment is not sent.
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

  /// The name to present in TLS, where an address has no place.
  var serverName: String? { NetworkAddress(literal: host) == nil ? host : nil }

  /// The value of the header `Host`.
  var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
  }
}
