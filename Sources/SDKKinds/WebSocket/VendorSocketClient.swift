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
  private let network: VendorNetwork

  /// Creates a client on these event loops.
  public init(group: MultiThreadedEventLoopGroup, network: VendorNetwork = VendorNetwork()) {
    self.init(group: group, limits: SocketLimits(), network: network)
  }

  init(
    group: MultiThreadedEventLoopGroup, limits: SocketLimits, names: any NameResolving = SystemNames.shared,
    network: VendorNetwork = VendorNetwork()
  ) {
    self.group = group
    self.limits = limits
    self.names = names
    self.network = network
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
    let caFile = request.caFile ?? network.caFile
    let route = try await network.route(
      to: url, request.addresses, request.proxy, names: names, timeout: timeout, on: loop)
    let tls =
      url.isSecure
      ? try await TrustedCertificates.of(caFile: caFile, timeout: deadline - .now(), on: loop).context : nil
    let left = deadline - .now()
    guard left > .zero else { throw .timeout }
    do throws(HTTPFailure) {
      return try await SocketAttempt(on: loop).open(
        upgrade, at: url, route, tls: tls, timeout: left, limits: limits)
    } catch .unverified {
      throw await CertificateInquiry.failure(at: url, route, caFile: caFile, until: deadline, on: loop)
    }
  }
}
