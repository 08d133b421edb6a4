public import SDKProtocol

/// The rule for the URLs that an instance may contact: TLS is required except for loopback addresses.
public enum URLRule {
  /// The parts of a URL that determine its destination.
  public struct Parts: Sendable, Hashable {
    /// The scheme in lower case.
    public var scheme: String
    /// A DNS name in lower case or an IP address, without brackets.
    public var host: String
    /// The port, if the URL names one.
    public var port: UInt16?
  }

  /// The server and port that a URL leads to (RFC 6454). A WebSocket has the origin of the HTTP URL from which it is
  /// upgraded.
  public struct Origin: Sendable, Hashable {
    /// Whether connections are encrypted.
    public let isSecure: Bool
    /// A DNS name in lower case or an IP address, without brackets.
    public let host: String
    /// The port; the scheme's default unless the URL names one.
    public let port: UInt16

    /// Reads the origin of a URL; `nil` for another scheme than those of HTTP and WebSockets, and for an ambiguous URL.
    public init?(_ url: String) {
      guard let parts = URLRule.parts(url), ["https", "wss", "http", "ws"].contains(parts.scheme) else { return nil }
      isSecure = parts.scheme == "https" || parts.scheme == "wss"
      host = parts.host
      port = parts.port ?? (isSecure ? 443 : 80)
    }
  }

  /// Returns the scheme, host and port of a URL; `nil` if they are invalid or ambiguous.
  ///
  /// The host must be a DNS name or an IP address, and the port 1 to 65535. HTTP clients and resolvers may interpret
  /// anything else differently, or can't connect to it.
  public static func parts(_ url: String) -> Parts? {
    // As bytes: all of them are ASCII.
    let bytes = Array(url.utf8)
    guard bytes.count <= 8192, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
      let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8)
    else { return nil }
    let scheme = text(bytes[..<colon].map(lowercased))
    let authority = bytes[(colon + 3)...].prefix { !endsAuthority($0) }.map(lowercased)
    let name: ArraySlice<UInt8>
    let rest: ArraySlice<UInt8>
    if authority.first == UInt8(ascii: "[") {
      guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      name = authority[1..<end]
      guard name.contains(UInt8(ascii: ":")), NetworkAddress(literal: text(name)) != nil else { return nil }
      rest = authority[(end + 1)...]
    } else {
      name = authority.prefix { $0 != UInt8(ascii: ":") }
      guard isName(name) || NetworkAddress(literal: text(name)) != nil else { return nil }
      rest = authority[name.endIndex...]
    }
    if rest.isEmpty { return Parts(scheme: scheme, host: text(name)) }
    guard rest.first == UInt8(ascii: ":"), let port = port(rest.dropFirst()) else { return nil }
    return Parts(scheme: scheme, host: text(name), port: port)
  }

  private static func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

  private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

  private static func endsAuthority(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
  }

  private static func port(_ digits: ArraySlice<UInt8>) -> UInt16? {
    guard digits.allSatisfy(isDigit), let port = UInt16(text(digits)), port > 0 else { return nil }
    return port
  }

  /// Whether a lower-case text is a DNS name (RFC 1123, 2.1). Underscores, which vendors' subdomains have, are allowed
  /// except in the last label. The last label must not be a number: resolvers take `127.1` and `0x7f.1` for addresses.
  private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
    let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard bytes.count <= 253, let last = labels.last, labels.allSatisfy(isLabel) else { return false }
    return !last.contains(UInt8(ascii: "_")) && !last.allSatisfy(isDigit) && !last.starts(with: "0x".utf8)
  }

  private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
    (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
      && label.allSatisfy { isDigit($0) || (0x61...0x7A).contains($0) || $0 == 0x2D || $0 == 0x5F }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// Whether a URL's host is `localhost`, `::1` or an address in 127.0.0.0/8.
  public static func isLoopback(_ url: String) -> Bool { parts(url).map { isLoopback(host: $0.host) } ?? false }

  private static func isLoopback(host: String) -> Bool {
    if host == "localhost" || host == "::1" { return true }
    guard let address = NetworkAddress(literal: host) else { return false }
    return address.bytes.count == 4 && address.bytes[0] == 127
  }

  /// Checks a URL: `https`, or `http` to loopback; for sockets `wss`, or `ws` to loopback. It has at most 2048 bytes,
  /// no user and no spaces.
  ///
  /// - Throws: `invalidAuthParameters`, an `SDKError` whose `member` is the setting.
  public static func check(_ url: String, setting: String, secure: String = "https", plain: String = "http")
    throws(SDKError)
  {
    func refuse(_ sentence: String) -> SDKError {
      SDKError(.local, .invalidAuthParameters, "The setting \(setting) \(sentence)", member: setting)
    }
    guard url.utf8.count <= 2048, let parts = parts(url) else {
      throw refuse("must be a URL such as \(secure)://example.com/path.")
    }
    // Clouds serve machines' secrets at link-local addresses.
    if NetworkAddress(literal: parts.host)?.scope == .linkLocal {
      throw refuse("leads to a link-local address, which is refused always.")
    }
    if parts.scheme == secure { return }
    guard parts.scheme == plain else { throw refuse("must begin with \(secure)://.") }
    guard isLoopback(host: parts.host) else {
      throw refuse("must begin with \(secure)://; \(plain):// is for this machine's loopback addresses only.")
    }
  }
}
