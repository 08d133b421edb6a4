import SDKProtocol

/// The HTTP client of the adapters. The kinds bring the client, tests a replacement.
public protocol HTTPSending: Sendable {
  /// Sends one request and reads the whole response.
  ///
  /// - Throws: `HTTPFailure` when there is no complete response.
  func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts

  /// Closes the connections of an instance that is deleted or has another backend.
  func forget(instance: String) async
}

/// A request, with the parts that belong to its instance alone.
public struct HTTPRequestParts: Sendable {
  /// The instance whose connections may carry it.
  public var instance: String
  /// `GET`, `POST`, `PUT`, `DELETE`.
  public var method: String
  /// The whole URL.
  public var url: String
  /// Header fields in order.
  public var headers: [(name: String, value: String)]
  /// The body; `nil` for none.
  public var body: [UInt8]?
  /// The seconds that the whole exchange may take.
  public var timeout: Double
  /// Certificates to trust instead of the daemon's.
  public var caFile: String?
  /// The addresses at which the connection may end. `GuardedNetwork` sets them for every request of an adapter.
  public var addresses = AddressRule.anywhere
  /// The instance's proxy. `GuardedNetwork` sets it for every request of an adapter.
  public var proxy = ProxyRule()

  /// A request with these parts.
  public init(
    instance: String, method: String, url: String, headers: [(name: String, value: String)] = [],
    body: [UInt8]? = nil, timeout: Double = 30, caFile: String? = nil
  ) {
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
  /// The status.
  public var status: Int
  /// Header fields by lower-case name; the first of several with one name.
  public var headers: [String: String]
  /// The body, at most a bounded number of bytes.
  public var body: [UInt8]

  /// A response with these parts.
  public init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// The reason why there is no complete response.
public enum HTTPFailure: Error, Sendable, Hashable {
  /// The connection failed or broke; with a text for the operator.
  case network(String)
  /// TLS does not vouch for the connection; with a text for the operator that says what to do.
  case insecure(String)
  /// The proxy opened no connection; with a text for the operator that names the proxy and says what to do.
  case proxy(String)
  /// No response came in time.
  case timeout
  /// The response is larger than the client accepts.
  case tooLarge
  /// The server responded, but did not upgrade to a WebSocket; with its HTTP status.
  case refused(status: Int)
}

extension HTTPResponseParts {
  /// The longest wait that is accepted from a vendor, in seconds.
  private static let longestWait = 3600.0
  /// The wait in seconds where the vendor gives none that can be read.
  private static let usualWait = 5.0

  /// The seconds to wait before the next request, from `Retry-After` (RFC 9110, 10.2.3): 0 to an hour.
  ///
  /// A date is compared with the response's own `Date`, so that differing clocks don't matter.
  public var retryAfter: Double {
    guard let text = headers["retry-after"] else { return Self.usualWait }
    if let first = text.utf8.first, (0x30...0x39).contains(first), !text.utf8.contains(UInt8(ascii: "x")),
      let seconds = Double(text), seconds.isFinite
    {
      return min(seconds, Self.longestWait)
    }
    guard let end = Timestamp(httpDate: text), let now = headers["date"].flatMap({ Timestamp(httpDate: $0) }) else {
      return Self.usualWait
    }
    return min(max(end - now, 0), Self.longestWait)
  }
}
