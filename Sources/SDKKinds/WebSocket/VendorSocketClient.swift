import NIOCore
public import NIOPosix
public import SDKInstances

/// A client for WebSockets to the vendors, with one connection for each socket.
///
/// Certificates are verified, redirects are not followed, and the size of everything that a server sends is limited.
/// The event loops must outlive the sockets.
public struct VendorSocketClient: SocketOpening {
  private let group: MultiThreadedEventLoopGroup
  private let limits: SocketLimits
  private let names: any NameResolving

  /// Creates a client on these event loops.
  public init(group: MultiThreadedEventLoopGroup) { self.init(group: group, limits: SocketLimits()) }

  init(group: MultiThreadedEventLoopGroup, limits: SocketLimits, names: any NameResolving = SystemNames.shared) {
    self.group = group
    self.limits = limits
    self.names = names
  }

  public func open(_ request: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket {
    guard let url = VendorURL(request.url, .webSocket) else { throw .network("the URL is not one of a WebSocket") }
    guard let upgrade = UpgradeRequest(request, to: url) else {
      throw .network("a header field or subprotocol can't be sent")
    }
    var limits = limits
    limits.pingInterval = SocketLimits.amount(request.pingInterval, within: 0.01...3600)
    let timeout = SocketLimits.amount(request.timeout, within: 0.001...600)
    let loop = group.next()
    let deadline = NIODeadline.now() + timeout
    let addresses = Array(
      try await names.addresses(of: url.host, by: request.addresses, timeout: timeout, on: loop).prefix(3))
    let tls =
      url.isSecure
      ? try await TrustedCertificates.of(caFile: request.caFile, timeout: deadline - .now(), on: loop).context : nil
    let left = deadline - .now()
    guard left > .zero else { throw .timeout }
    do throws(HTTPFailure) {
      return try await SocketAttempt(on: loop).open(
        upgrade, at: url, addresses: addresses, tls: tls, timeout: left, limits: limits)
    } catch .unverified {
      throw await CertificateInquiry.failure(at: url, addresses, caFile: request.caFile, until: deadline, on: loop)
    }
  }
}
