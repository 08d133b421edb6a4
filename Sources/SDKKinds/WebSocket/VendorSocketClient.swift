import NIOCore
public import NIOPosix
import NIOSSL
public import SDKInstances

/// WebSockets to the vendors, one connection for each socket.
///
/// Certificates are checked, redirects are not followed, and everything that a server may send is bounded. The event
/// loops must outlive the sockets.
public struct VendorSocketClient: SocketOpening {
  private let group: MultiThreadedEventLoopGroup
  private let limits: SocketLimits
  private let names: any NameResolving

  /// A client on these event loops.
  public init(group: MultiThreadedEventLoopGroup) { self.init(group: group, limits: SocketLimits()) }

  init(group: MultiThreadedEventLoopGroup, limits: SocketLimits, names: any NameResolving = SystemNames.shared) {
    self.group = group
    self.limits = limits
    self.names = names
  }

  public func open(_ request: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket {
    guard let url = SocketURL(request.url) else { throw .network("the URL is not one of a WebSocket") }
    guard let upgrade = UpgradeRequest(request, to: url) else {
      throw .network("a header field or subprotocol can't be sent")
    }
    let tls = url.isSecure ? try Self.tls(caFile: request.caFile) : nil
    var limits = limits
    limits.pingInterval = SocketLimits.amount(request.pingInterval, within: 0.01...3600)
    let timeout = SocketLimits.amount(request.timeout, within: 0.001...600)
    let loop = group.next()
    let deadline = NIODeadline.now() + timeout
    let addresses = try await names.addresses(
      of: url.host.lowercased(), by: request.addresses, timeout: timeout, on: loop)
    let left = deadline - .now()
    guard left > .zero else { throw .timeout }
    return try await SocketAttempt(on: loop).open(
      upgrade, at: url, addresses: Array(addresses.prefix(3)), tls: tls, timeout: left, limits: limits)
  }

  /// Read anew for each connection, so that certificates that were replaced count.
  private static func tls(caFile: String?) throws(HTTPFailure) -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    if let caFile { configuration.trustRoots = .file(caFile) }
    // HTTP/2 knows no such upgrade.
    configuration.applicationProtocols = ["http/1.1"]
    do {
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw .network(caFile == nil ? "TLS can't be set up" : "the file of ca_file can't be read")
    }
  }
}
