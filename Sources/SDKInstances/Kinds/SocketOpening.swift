/// Opens WebSockets for the adapters; the kinds bring the client, tests a replacement.
public protocol SocketOpening: Sendable {
  /// Connects and upgrades within the request's time.
  ///
  /// - Throws: `HTTPFailure`; `refused` with its status when the server answers but does not upgrade, redirects
  ///   included. A cancelled task ends the attempt with `network`.
  func open(_ request: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket
}

/// An open WebSocket that carries texts. It closes when it is closed, broken or no longer held.
public protocol VendorSocket: Sendable {
  /// Sends one message and waits until the connection has taken it.
  ///
  /// - Throws: `HTTPFailure` when it can't be sent. A cancelled task stops waiting; the message may still go out.
  func send(_ text: String) async throws(HTTPFailure)

  /// The next message; `nil` once the peer or we closed in an orderly way. For one consumer at a time.
  ///
  /// - Parameter seconds: how long to wait; `nil` for as long as it takes.
  /// - Throws: `HTTPFailure` when the connection broke; `tooLarge` when a message was larger than we take; `timeout`
  ///   when none came in time, which is never the connection's end. A cancelled task stops waiting with `network`. No
  ///   message is lost by either.
  func next(within seconds: Double?) async throws(HTTPFailure) -> String?

  /// Closes in an orderly way, within a few seconds at most. Messages that wait are dropped.
  func close() async
}

extension VendorSocket {
  /// The next message, however long it takes.
  public func next() async throws(HTTPFailure) -> String? { try await next(within: nil) }
}

/// The request for a WebSocket with what belongs to its instance alone.
public struct SocketRequestParts: Sendable {
  /// Whose connection it is.
  public var instance: String
  /// The whole URL, `wss:` or `ws:`.
  public var url: String
  /// Header fields in order, besides those of the upgrade itself.
  public var headers: [(name: String, value: String)]
  /// Subprotocols that we speak, the best first; the server must choose one of them or none.
  public var subprotocols: [String]
  /// Seconds for connecting and upgrading.
  public var timeout: Double
  /// Seconds between pings; without an answer within as long again the connection is lost.
  public var pingInterval: Double
  /// Certificates to trust instead of the system's.
  public var caFile: String?
  /// Where the connection may end; the registry sets it for every request of an adapter.
  public var addresses = AddressRule.anywhere

  /// A request with these parts.
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
