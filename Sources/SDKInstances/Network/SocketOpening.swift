/// The WebSocket client that adapters use. The module of the kinds implements it; tests use a replacement.
public protocol SocketOpening: Sendable {
  /// Connects and upgrades to a WebSocket, within the request's `timeout`.
  ///
  /// - Throws: `HTTPFailure`; `refused` with its status when the server responds but does not upgrade, redirects
  ///   included. A cancelled task ends the attempt with `network`.
  func open(_ request: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket
}

/// An open WebSocket for text messages. The connection ends on `close`, after an error, or when this object is
/// deallocated.
public protocol VendorSocket: Sendable {
  /// Sends one message. Returns when the message was passed to the connection.
  ///
  /// - Throws: `HTTPFailure` if the message can't be sent. A cancelled task stops waiting; the message may still be
  ///   sent.
  func send(_ text: String) async throws(HTTPFailure)

  /// Returns the next message; `nil` once either side closed in an orderly way. For one consumer at a time.
  ///
  /// - Parameter seconds: how long to wait; `nil` for no limit.
  /// - Throws: `HTTPFailure` when the connection broke; `tooLarge` for a message over the limit; `timeout` when none
  ///   came in time, which never ends the connection. A cancelled task stops waiting with `network`. A timeout or
  ///   cancellation loses no message.
  func next(within seconds: Double?) async throws(HTTPFailure) -> String?

  /// Closes in an orderly way, within a few seconds at most. Messages in the queue are dropped.
  func close() async
}

extension VendorSocket {
  /// Returns the next message, without a time limit.
  public func next() async throws(HTTPFailure) -> String? { try await next(within: nil) }
}

/// A request to open a WebSocket, with the instance's own settings for proxy, certificates and addresses.
public struct SocketRequestParts: Sendable {
  /// The UUID of the instance that the connection belongs to.
  public var instance: String
  /// The whole URL, `wss:` or `ws:`.
  public var url: String
  /// The header fields, in the order in which they are sent, except those of the upgrade itself.
  public var headers: [(name: String, value: String)]
  /// The supported subprotocols, the best first. The server must choose one of them or none.
  public var subprotocols: [String]
  /// The seconds that connecting and upgrading may take.
  public var timeout: Double
  /// The seconds between pings. Without a response within the same time, the connection is lost.
  public var pingInterval: Double
  /// The path of the file with the CA certificates to trust; `nil` for the daemon's.
  public var caFile: String?
  /// The rule for the IP addresses to which the request may connect. `GuardedNetwork` sets it for every request of an
  /// adapter.
  public var addresses = AddressRule.anywhere
  /// The instance's proxy. `GuardedNetwork` sets it for every request of an adapter.
  public var proxy = ProxyRule()

  /// Creates a request with these parts.
  public init(
    instance: String, url: String, headers: [(name: String, value: String)] = [], subprotocols: [String] = [],
    timeout: Double = 30, pingInterval: Double = 20, caFile: String? = nil
  ) {
    self.instance = instance
    self.url = url
    self.headers = headers
    self.subprotocols = subprotocols
    self.timeout = timeout
    self.pingInterval = pingInterval
    self.caFile = caFile
  }
}
