/// Sends HTTP requests for the adapters; the kinds bring the client, tests a replacement.
public protocol HTTPSending: Sendable {
  /// Sends one request and reads the whole answer.
  ///
  /// - Throws: `HTTPFailure` when there is no whole answer.
  func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts

  /// The instance is gone or has another backend: its connections are closed.
  func forget(instance: String) async
}

/// A request with what belongs to its instance alone.
public struct HTTPRequestParts: Sendable {
  /// Whose connections may carry it.
  public var instance: String
  /// `GET`, `POST`, `PUT`, `DELETE`.
  public var method: String
  /// The whole URL.
  public var url: String
  /// Header fields in order.
  public var headers: [(name: String, value: String)]
  /// The body; `nil` for none.
  public var body: [UInt8]?
  /// Seconds for the whole exchange.
  public var timeout: Double
  /// Certificates to trust instead of the system's.
  public var caFile: String?
  /// Where the connection may end; the registry sets it for every request of an adapter.
  public var addresses = AddressRule.anywhere

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

/// An answer, whatever its status.
public struct HTTPResponseParts: Sendable {
  /// The status.
  public var status: Int
  /// Header fields by lower-case name; of several of one name the first.
  public var headers: [String: String]
  /// The body, at most a bounded number of bytes.
  public var body: [UInt8]

  /// An answer with these parts.
  public init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// Why there is no whole answer.
public enum HTTPFailure: Error, Sendable, Hashable {
  /// No connection, or it broke; with words for the operator.
  case network(String)
  /// No connection that TLS vouches for; with words for the operator, which say what to do.
  case insecure(String)
  /// No answer in time.
  case timeout
  /// The answer is larger than we take.
  case tooLarge
  /// The server answered, but did not upgrade to a WebSocket; with its HTTP status.
  case refused(status: Int)
}
