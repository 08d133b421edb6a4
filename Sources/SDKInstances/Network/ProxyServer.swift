public import SDKProtocol

/// An HTTP proxy, which opens a tunnel to a vendor's server on the request `CONNECT` (RFC 9110, 9.3.6).
public struct ProxyServer: Sendable, Hashable, CustomStringConvertible {
  /// A DNS name in lower case or an IP address, without brackets.
  public var host: String
  /// The port.
  public var port: UInt16
  /// The credentials as `USER:PASSWORD`; `nil` for none.
  public var credentials: Secret?

  /// Creates the proxy of a URL `http://HOST:PORT`; `nil` for any other text.
  public init?(_ url: String) {
    guard let parts = URLRule.parts(url), parts.scheme == "http", let port = parts.port else { return nil }
    let rest = url.dropFirst("http://".count).drop { $0 != "/" && $0 != "?" && $0 != "#" }
    guard rest.isEmpty || rest == "/" else { return nil }
    (host, self.port) = (parts.host, port)
  }

  /// The URL, without the credentials.
  public var description: String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }

  /// Returns the reason why a text is not `USER:PASSWORD`; `nil` if it is. The reason never contains the text.
  public static func mistake(inCredentials text: String) -> String? {
    text.contains(":") && text.utf8.count <= 1024 && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
      ? nil : "must be USER:PASSWORD in one line of at most 1024 bytes."
  }
}

/// The value of a setting `proxy`.
public enum ProxyChoice: Sendable, Hashable {
  /// Direct connections.
  case none
  /// The proxy that the environment of the daemon names, if it names one.
  case environment
  /// This proxy.
  case server(ProxyServer)

  /// Parses a value of `proxy`: `none`, `environment` or `http://HOST:PORT`. Returns `nil` for any other text.
  public init?(_ text: String) {
    switch text {
    case "none": self = .none
    case "environment": self = .environment
    default:
      guard let server = ProxyServer(text) else { return nil }
      self = .server(server)
    }
  }

  /// Returns the reason why a text is not a valid value of `proxy`, as a sentence without its subject; `nil` if it is
  /// valid. The reason never contains the text, which may hold a password.
  public static func mistake(in text: String) -> String? {
    if ProxyChoice(text) != nil { return nil }
    if text.contains("@") {
      return "must not hold credentials; put them into proxy_credentials, and write http://HOST:PORT."
    }
    let scheme = text.prefix { $0 != ":" }.lowercased()
    if scheme == "https" || scheme.hasPrefix("socks") {
      return "must be http://HOST:PORT; proxies over TLS and SOCKS proxies are not supported."
    }
    return "must be \"none\", \"environment\" or http://HOST:PORT."
  }
}

/// The proxy of one instance, and whether a request may send the IP address of its URL to the proxy.
public struct ProxyRule: Sendable, Hashable {
  /// The instance's setting `proxy`; `nil` if the daemon's setting applies.
  public var choice: ProxyChoice?
  /// The instance's setting `proxy_credentials`, for the proxy in `choice`.
  public var credentials: Secret?
  /// Whether `[network] allow` lists the host of the request's URL. If the host is an IP address that is not listed, a
  /// request through a proxy fails.
  public var isListed = false

  /// Creates a rule that uses the daemon's proxy.
  public init() {}

  /// Creates the rule for an instance's settings `proxy` and `proxy_credentials`.
  ///
  /// - Throws: `invalidAuthParameters` with the name of the invalid setting.
  public init(proxy: String?, credentials: String?) throws(SDKError) {
    func refuse(_ setting: String, _ mistake: String) -> SDKError {
      SDKError(.local, .invalidAuthParameters, "The setting \(setting) \(mistake)", member: setting)
    }
    if let proxy, let mistake = ProxyChoice.mistake(in: proxy) { throw refuse("proxy", mistake) }
    choice = proxy.flatMap { ProxyChoice($0) }
    guard let credentials else { return }
    if choice == nil || choice == ProxyChoice.none {
      throw refuse("proxy_credentials", "is for the setting proxy, which names no proxy.")
    }
    if let mistake = ProxyServer.mistake(inCredentials: credentials) { throw refuse("proxy_credentials", mistake) }
    self.credentials = Secret(credentials)
  }
}
