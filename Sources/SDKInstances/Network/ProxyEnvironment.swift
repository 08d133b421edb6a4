import Glibc
import SDKProtocol

/// The proxy that environment variables name, by curl's rules.
///
/// Vendors are reached over TLS, so the variables are `https_proxy` and then `all_proxy`, each in lower case and then
/// in upper case. An empty variable counts as unset. The port is 1080 unless given. `http_proxy` is for plain HTTP,
/// which is for this machine only and uses no proxy.
public struct ProxyEnvironment: Sendable, Hashable {
  /// The proxy; `nil` if no variable names one.
  public let server: ProxyServer?
  /// The hosts of `no_proxy`.
  public let exceptions: ProxyExceptions
  /// The name of the variable whose value is not a usable proxy; `nil` if there is none.
  public let unusable: String?

  /// The environment of this process.
  public static var current: ProxyEnvironment {
    ProxyEnvironment { name in getenv(name).map { String(cString: $0) } }
  }

  /// Reads the proxy from environment variables.
  ///
  /// - Parameter variable: returns the value of a variable.
  public init(_ variable: (String) -> String?) {
    func first(_ names: String...) -> (name: String, value: String)? {
      for name in names {
        if let value = variable(name), !value.isEmpty { return (name, value) }
      }
      return nil
    }
    let found = first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
    server = found.flatMap { Self.server($0.value) }
    unusable = server == nil ? found?.name : nil
    exceptions = ProxyExceptions(variable: first("no_proxy", "NO_PROXY")?.value ?? "")
  }

  /// The reason why the environment's proxy can't be used, as a sentence; `nil` if it can. The reason never contains a
  /// value, which may hold a password.
  public var mistake: String? {
    unusable.map {
      "The environment variable \($0) must be http://HOST:PORT; proxies over TLS and SOCKS proxies are not supported."
    }
  }

  private static func server(_ text: String) -> ProxyServer? {
    var rest = text[...]
    if let scheme = rest.firstRange(of: "://") {
      guard rest[..<scheme.lowerBound].lowercased() == "http" else { return nil }
      rest = rest[scheme.upperBound...]
    }
    rest = rest.prefix { $0 != "/" }
    let at = rest.lastIndex(of: "@")
    let place = at.map { rest[rest.index(after: $0)...] } ?? rest
    let hasPort = place.last != "]" && place.split(separator: "]").last?.contains(":") == true
    guard var server = ProxyServer("http://\(place)\(hasPort ? "" : ":1080")") else { return nil }
    if let at {
      guard let credentials = decoded(rest[..<at]) else { return nil }
      let pair = credentials.contains(":") ? credentials : credentials + ":"
      guard ProxyServer.mistake(inCredentials: pair) == nil else { return nil }
      server.credentials = Secret(pair)
    }
    return server
  }

  /// Decodes the percent-encoding of a text; returns `nil` if it is malformed.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2)
      guard digits.count == 2, let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
