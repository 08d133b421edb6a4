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
    } else {
      host = authority.prefix { $0 != ":" }
    }
    guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    return (scheme, host.lowercased())
  }

  /// Whether a URL leads to this machine.
  public static func isLoopback(_ url: String) -> Bool {
    guard let host = parts(url)?.host else { return false }
    if host == "localhost" || host == "::1" { return true }
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
    guard url.utf8.count <= 2048, let parts = parts(url), !url.contains(where: \.isWhitespace) else {
      throw refuse("must be a URL such as \(secure)://example.com/path.")
    }
    if parts.scheme == secure { return }
    guard parts.scheme == plain else { throw refuse("must begin with \(secure)://.") }
    guard isLoopback(url) else {
      throw refuse("must begin with \(secure)://; \(plain):// is for this machine's loopback addresses only.")
    }
  }
}
