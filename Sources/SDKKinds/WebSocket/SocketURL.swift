import NIOCore

/// Where a WebSocket's URL leads.
struct SocketURL: Hashable {
  /// Whether the connection is encrypted.
  var isSecure: Bool
  /// A name or an address, without brackets.
  var host: String
  /// The port, the scheme's own unless given.
  var port: Int
  /// The path with its query; begins with a slash.
  var target: String

  /// The parts of a `ws:` or `wss:` URL; `nil` for anything else. A fragment is not sent.
  init?(_ url: String) {
    guard url.utf8.count <= 8192, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    let text: Substring
    if url.lowercased().hasPrefix("wss://") {
      isSecure = true
      text = url.dropFirst(6)
    } else if url.lowercased().hasPrefix("ws://") {
      isSecure = false
      text = url.dropFirst(5)
    } else {
      return nil
    }
    let authority = text.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard !authority.contains("@"), !authority.contains("\\") else { return nil }
    let rest: Substring
    if authority.first == "[" {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = String(authority[..<end].dropFirst())
      rest = authority[end...].dropFirst()
    } else {
      host = String(authority.prefix { $0 != ":" })
      rest = authority.dropFirst(host.count)
    }
    guard !host.isEmpty else { return nil }
    if rest.isEmpty || rest == ":" {
      port = isSecure ? 443 : 80
    } else {
      guard rest.first == ":", rest.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let number = UInt16(rest.dropFirst()), number > 0
      else { return nil }
      port = Int(number)
    }
    let path = text.dropFirst(authority.count).prefix { $0 != "#" }
    target = path.first == "/" ? String(path) : "/" + path
  }

  /// Whether the host is an address, which has no place in a TLS server name.
  var isAddress: Bool { (try? SocketAddress(ipAddress: host, port: 0)) != nil }

  /// The value of the header `Host`.
  var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
  }
}
