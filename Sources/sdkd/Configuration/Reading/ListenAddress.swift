/// The address of the metrics: a port of the loopback interface or a Unix socket.
enum ListenAddress: Sendable, Hashable, CustomStringConvertible {
  /// A numeric loopback address and a port.
  case loopback(address: String, port: UInt16)
  /// The absolute path of a socket.
  case path(String)

  /// The reason why a text is not a valid address.
  enum Mistake: Error, Hashable {
    /// The text has none of the accepted forms, or its path is too long.
    case malformed
    /// The host is no loopback address, so that other machines could connect.
    case notLoopback
  }

  /// Parses `HOST:PORT`, `[ADDRESS]:PORT` or a path.
  init(_ text: String) throws(Mistake) {
    if text.hasPrefix("/") {
      // A socket's path must fit into 108 bytes with its NUL.
      guard text.utf8.count < 108, text.count > 1 else { throw .malformed }
      self = .path(text)
      return
    }
    guard let colon = text.lastIndex(of: ":") else { throw .malformed }
    let host = String(text[..<colon])
    guard let port = Self.port(text[text.index(after: colon)...]) else { throw .malformed }
    guard HostPattern.isValid(host) || Self.isBracketed(host) else { throw .malformed }
    guard let address = Self.loopbackAddress(host) else { throw .notLoopback }
    self = .loopback(address: address, port: port)
  }

  var description: String {
    switch self {
    case .loopback(let address, let port): address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    case .path(let path): path
    }
  }

  /// Whether an HTTP request with this `Host` may be for this address. Through a name of its own, a web page could have a
  /// browser send requests here and read the answers (DNS rebinding). Any port is accepted, since it can be forwarded.
  func isMeant(byHost host: String) -> Bool {
    guard case .loopback(let address, _) = self else { return true }
    let text = host.lowercased()
    let name: Substring
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      let rest = text[text.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") && Self.port(rest.dropFirst()) != nil else { return false }
      name = text[text.index(after: text.startIndex)..<end]
    } else {
      let parts = text.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 1 || parts.count == 2 && Self.port(parts[1]) != nil else { return false }
      name = parts[0]
    }
    return ["localhost", "127.0.0.1", "::1", address[...]].contains(name)
  }

  private static func port(_ text: Substring) -> UInt16? {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(text), port > 0 else { return nil }
    return port
  }

  private static func isBracketed(_ host: String) -> Bool {
    guard host.hasPrefix("["), host.hasSuffix("]"), host.count >= 4 else { return false }
    return host.dropFirst().dropLast().allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
  }

  /// Returns the numeric address of a host; `nil` if it is not loopback. No name but `localhost` is accepted: its
  /// address could change.
  private static func loopbackAddress(_ host: String) -> String? {
    if host == "localhost" { return "127.0.0.1" }
    if host == "[::1]" { return "::1" }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    return parts.count == 4 && parts[0] == 127 && !parts.contains(nil) ? host : nil
  }
}

/// A host name, an IPv4 address or a domain, as in `[network] allow`.
enum HostPattern {
  static func isValid(_ text: String) -> Bool {
    guard (1...253).contains(text.utf8.count) else { return false }
    return text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
        && label.utf8.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
    }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
  }
}
