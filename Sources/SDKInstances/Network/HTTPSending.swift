public import SDKProtocol

/// The HTTP client that adapters use. The module of the kinds implements it; tests use a replacement.
public protocol HTTPSending: Sendable {
  /// Sends one request and reads the whole response.
  ///
  /// - Throws: `HTTPFailure` when there is no complete response.
  func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts
}

/// The owner of the connections for an instance: the user or the unit that owns the instance.
///
/// The instances of one owner share connections to the same host. Those of different owners don't, so that a host which
/// mixes up the responses on a connection can't give an owner those of another.
public enum ConnectionOwner: Sendable, Hashable {
  /// The daemon, for instances that a configuration file defines.
  case daemon
  /// The user with this uid.
  case user(UInt32)
  /// The unit of a create rule.
  case unit(AccessRule)
}

/// An HTTP request of an instance, with the instance's own settings for proxy, certificates and addresses.
public struct HTTPRequestParts: Sendable {
  /// The UUID of the instance that sends the request. Its requests in progress at one host have a maximum.
  public var instance: String
  /// The owner of the instance, with whose other instances it shares connections. `GuardedNetwork` sets it for every
  /// request of an adapter.
  public var owner = ConnectionOwner.daemon
  /// The method: `GET`, `POST`, `PUT` or `DELETE`.
  public var method: String
  /// The whole URL.
  public var url: String
  /// The header fields, in the order in which they are sent.
  public var headers: [(name: String, value: String)]
  /// The body; `nil` for none.
  public var body: [UInt8]?
  /// The secrets in headers and body. The texts of the response are read without them.
  public var secrets: [Secret]
  /// The seconds that the whole exchange may take.
  public var timeout: Double
  /// The path of the file with the CA certificates to trust; `nil` for the daemon's.
  public var caFile: String?
  /// Whether the request may be sent again when the connection ends without a response. A request that spends a
  /// credential must not.
  public var isRepeatable: Bool
  /// The rule for the IP addresses to which the request may connect. `GuardedNetwork` sets it for every request of an
  /// adapter.
  public var addresses = AddressRule.anywhere
  /// The instance's proxy. `GuardedNetwork` sets it for every request of an adapter.
  public var proxy = ProxyRule()

  /// Creates a request with these parts.
  public init(
    instance: String, method: String, url: String, headers: [(name: String, value: String)] = [],
    body: [UInt8]? = nil, secrets: [Secret] = [], timeout: Double = 30, caFile: String? = nil,
    isRepeatable: Bool = false
  ) {
    self.secrets = secrets
    self.isRepeatable = isRepeatable
    self.instance = instance
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
    self.caFile = caFile
  }
}

/// An HTTP response of any status.
public struct HTTPResponseParts: Sendable {
  /// The HTTP status.
  public var status: Int
  /// The values of header fields by lower-case name. Of several fields with one name, it is the first.
  public var headers: [String: String]
  /// The body. Its size is limited: a larger response fails with `HTTPFailure.tooLarge`.
  public var body: [UInt8]
  /// The secrets of this and of earlier requests. `AdapterServices.send` sets them.
  public internal(set) var sent = SentSecrets.none
  /// The time at which the response came. `AdapterServices.send` sets it.
  public internal(set) var receivedAt: Timestamp?

  /// Creates a response with these parts, to a request with these secrets.
  public init(status: Int, headers: [String: String] = [:], body: [UInt8] = [], sent: [Secret] = []) {
    self.status = status
    self.headers = headers
    self.body = body
    self.sent = SentSecrets(sent)
  }
}

/// The reason why there is no complete response.
public enum HTTPFailure: Error, Sendable, Hashable {
  /// The connection failed or broke; with a text for the operator.
  case network(String)
  /// The TLS handshake failed, for example because the certificate is not trusted; with a text for the operator that
  /// says what to do.
  case insecure(String)
  /// The connection through the proxy could not be opened; with a text for the operator that names the proxy and says
  /// what to do.
  case proxy(String)
  /// No response came in time.
  case timeout
  /// The response is larger than the client accepts.
  case tooLarge
  /// The server responded, but did not upgrade to a WebSocket; with its HTTP status, and the place of a redirect.
  case refused(status: Int, location: String? = nil)
}

extension HTTPResponseParts {
  /// The maximum of `retryAfter`, in seconds. Longer waits are reduced to it.
  private static let longestWait = 3600.0
  /// The value of `retryAfter`, in seconds, when the vendor sends none that can be parsed.
  private static let usualWait = 5.0

  /// The wait that the vendor asks for with `Retry-After`, in seconds; `nil` without that header.
  public var requestedWait: Double? { headers["retry-after"] == nil ? nil : retryAfter }

  /// The seconds to wait before the next request, from `Retry-After` (RFC 9110, 10.2.3): 0 to an hour.
  ///
  /// A date is compared with the response's own `Date`, so that differing clocks don't matter. Without one it is
  /// compared with the time at which the response came.
  public var retryAfter: Double {
    guard let text = headers["retry-after"] else { return Self.usualWait }
    if let first = text.utf8.first, (0x30...0x39).contains(first), !text.utf8.contains(UInt8(ascii: "x")),
      let seconds = Double(text), seconds.isFinite
    {
      return min(seconds, Self.longestWait)
    }
    guard let end = Timestamp(httpDate: text),
      let now = headers["date"].flatMap({ Timestamp(httpDate: $0) }) ?? receivedAt
    else { return Self.usualWait }
    return min(max(end - now, 0), Self.longestWait)
  }
}
