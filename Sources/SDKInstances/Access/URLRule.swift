public import SDKProtocol

/// Which URLs an instance may talk to (`sdks.md`: every URL is a setting; plain HTTP is for loopback only).
public enum URLRule {
  /// The parts of a URL that say where it leads.
  public struct Parts: Sendable, Hashable {
    /// The scheme in lower case.
    public var scheme: String
    /// A DNS name in lower case or an IP address, without brackets.
    public var host: String
    /// The port, if the URL names one.
    public var port: UInt16?
  }

  /// Returns where a URL leads; `nil` when that is not clear.
  ///
  /// A host is a DNS name or an IP address, and a port is 1 to 65535. Everything else may be read differently by an HTTP
  /// client or a resolver, or is nothing that a connection can be made to.
  public static func parts(_ url: String) -> Parts? {
    guard url.utf8.count <= 8192, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
      let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")), url[colon...].hasPrefix("://")
    else { return nil }
    let scheme = url[..<colon].lowercased()
    let authority = url[colon...].dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }.lowercased()
    let rest: Substring
    let host: String
    if authority.first == "[" {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = String(authority[..<end].dropFirst())
      guard host.contains(":"), NetworkAddress(literal: host) != nil else { return nil }
      rest = authority[end...].dropFirst()
    } else {
      host = String(authority.prefix { $0 != ":" })
      guard isName(host) || NetworkAddress(literal: host) != nil else { return nil }
      rest = authority.dropFirst(host.count)
    }
    if rest.isEmpty { return Parts(scheme: scheme, host: host) }
    guard rest.first == ":", let port = port(rest.dropFirst()) else { return nil }
    return Parts(scheme: scheme, host: host, port: port)
  }

  private static func port(_ digits: Substring) -> UInt16? {
    guard digits.utf8.allSatisfy(isDigit), let port = UInt16(digits), port > 0 else { return nil }
    return port
  }

  /// Whether a text in lower case is a DNS name (RFC 1123, 2.1). Underscores are allowed, since vendors' subdomains have
  /// them, but not in the last label, which is no number either: resolvers take `127.1` and `0x7f.1` for addresses.
  private static func isName(_ text: String) -> Bool {
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    guard text.utf8.count <= 253, let last = labels.last, labels.allSatisfy(isLabel) else { return false }
    return !last.utf8.contains(UInt8(ascii: "_")) && !last.utf8.allSatisfy(isDigit) && !last.hasPrefix("0x")
  }

  private static func isLabel(_ label: Substring) -> Bool {
    (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
      && label.utf8.allSatisfy { isDigit($0) || (0x61...0x7A).contains($0) || $0 == 0x2D || $0 == 0x5F }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// Whether a URL names a link-local address, behind which machines keep their own secrets.
  static func isLinkLocal(_ url: String) -> Bool {
    parts(url).flatMap { NetworkAddress(literal: $0.host) }?.scope == .linkLocal
  }

  /// Whether a URL leads to this machine.
  public static func isLoopback(_ url: String) -> Bool {
    guard let host = parts(url)?.host else { return false }
    if host == "localhost" || host == "::1" { return true }
    guard let address = NetworkAddress(literal: host) else { return false }
    return address.bytes.count == 4 && address.bytes[0] == 127
  }

  /// Checks a URL: `https`, or `http` to loopback; for sockets `wss`, or `ws` to loopback. No user, no spaces.
  ///
  /// - Throws: `invalidParams`-like sentence in an `SDKError` whose `member` is the setting.
  public static func check(_ url: String, setting: String, secure: String = "https", plain: String = "http")
    throws(SDKError)
  {
    func refuse(_ sentence: String) -> SDKError {
      SDKError(.local, .invalidAuthParameters, "The setting \(setting) \(sentence)", member: setting)
    }
    guard url.utf8.count <= 2048, let parts = parts(url) else {
      throw refuse("must be a URL such as \(secure)://example.com/path.")
    }
    if isLinkLocal(url) { throw refuse("leads to a link-local address, which is refused always.") }
    if parts.scheme == secure { return }
    guard parts.scheme == plain else { throw refuse("must begin with \(secure)://.") }
    guard isLoopback(url) else {
      throw refuse("must begin with \(secure)://; \(plain):// is for this machine's loopback addresses only.")
    }
  }
}
