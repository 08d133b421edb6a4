public import SDKProtocol

/// Which URLs an instance may talk to (`sdks.md`: every URL is a setting; plain HTTP is for loopback only).
public enum URLRule {
  /// The scheme and host of a URL; `nil` when it has none.
  public static func parts(_ url: String) -> (scheme: String, host: String)? {
    guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else { return nil }
    let scheme = url[..<colon].lowercased()
    let authority = url[colon...].dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard !authority.contains("@"), !authority.contains("\\") else { return nil }
    let host: Substring
    if authority.first == "[" {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = authority[authority.index(after: authority.startIndex)..<end]
      guard isPort(authority[authority.index(after: end)...]) else { return nil }
    } else {
      host = authority.prefix { $0 != ":" }
      guard isPort(authority[host.endIndex...]) else { return nil }
    }
    guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    return (scheme, host.lowercased())
  }

  /// Whether a URL names a link-local address, behind which machines keep their own secrets.
  static func isLinkLocal(_ url: String) -> Bool {
    guard let host = parts(url)?.host else { return false }
    if host.hasPrefix("169.254.") { return true }
    // fe80::/10, also as an address that embeds one of version 4.
    return host.contains(":")
      && (["fe8", "fe9", "fea", "feb"].contains { host.hasPrefix($0) } || host.contains("169.254."))
  }

  /// Whether what follows a host is nothing or a port.
  private static func isPort(_ text: Substring) -> Bool {
    text.isEmpty || text.first == ":" && text.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// Whether a URL leads to this machine.
  public static func isLoopback(_ url: String) -> Bool {
    guard let host = parts(url)?.host else { return false }
    if host == "localhost" || host == "::1" { return true }
    // `UInt8` would take a sign, and who resolves the name would not.
    guard host.utf8.allSatisfy({ $0 == 0x2E || (0x30...0x39).contains($0) }) else { return false }
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    return numbers.count == 4 && numbers[0] == 127 && numbers.allSatisfy { $0 != nil }
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
    guard url.utf8.count <= 2048, let parts = parts(url), url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
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
