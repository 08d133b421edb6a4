public import SDKProtocol

/// The rule for URLs that come from outside an instance's definition (sdkd-protocol(7)): from vendor responses, channel
/// keys, providers, delegates, and callers other than admins.
///
/// Their supplier decides, whoever made the instance. Such a URL leads to a listed domain, or to the origin of a URL
/// that the definition names.
public struct SuppliedURLRule: Sendable, Hashable {
  private let domains: [String]
  private let ownOrigins: Set<URLRule.Origin>
  private let isOfAdmin: Bool

  /// The rule that allows no URL.
  public static let nowhere = SuppliedURLRule(domains: [], ownURLs: [])

  /// Creates a rule for these domains and their subdomains, and for the origins of the definition's own URLs.
  ///
  /// - Parameter isOfAdmin: whether an admin wrote the definition. The hosts that it names may then be on this machine.
  public init(domains: [String], ownURLs: [String], isOfAdmin: Bool = false) {
    self.domains = domains
    ownOrigins = Set(ownURLs.compactMap(URLRule.Origin.init))
    self.isOfAdmin = isOfAdmin
  }

  /// Returns the rule for the IP addresses to which a URL's host name may resolve. Without it, an allowed name could be
  /// made to resolve to this machine or to a link-local address.
  public func addresses(for url: String) -> AddressRule {
    guard let parts = URLRule.parts(url) else { return .outside }
    if parts.scheme == "http" || parts.scheme == "ws" { return .loopback }
    // The right to name this machine was checked when the URL was supplied.
    if URLRule.isLoopback(url) { return .anywhere }
    return isOfAdmin && isOwn(url) ? .anywhere : .outside
  }

  /// Checks a URL that comes from outside the definition.
  ///
  /// - Parameter what: the URL's name at its source, for the error message and as its `member`.
  /// - Throws: `invalidAuthParameters` for a URL that `URLRule` refuses, `accessDenied` for one that is not allowed.
  public func check(
    _ url: String, what: String, secure: String = "https", plain: String = "http"
  ) throws(SDKError) {
    try URLRule.check(url, setting: what, secure: secure, plain: plain)
    guard let host = URLRule.parts(url)?.host, !isOwn(url) else { return }
    let isLocal = URLRule.isLoopback(url)
    if !isLocal, domains.contains(where: { host == $0 || host.hasSuffix(".\($0)") }) { return }
    throw SDKError(
      .access, .accessDenied,
      isLocal
        ? "\(what) leads to a port of this machine that no URL of the settings has; an admin can set one that has it."
        : "\(what) leads to \(host), which [network] allow does not list; an admin can add it.", member: what)
  }

  private func isOwn(_ url: String) -> Bool { URLRule.Origin(url).map(ownOrigins.contains) ?? false }
}

/// The HTTP and WebSocket client that adapters get. It adds the owner, the address rule and the proxy to every request, so
/// that no adapter can omit them.
struct GuardedNetwork: HTTPSending, SocketOpening {
  let http: any HTTPSending
  /// The owner of the instance.
  let owner: ConnectionOwner
  let sockets: any SocketOpening
  let rule: @Sendable () -> SuppliedURLRule
  let proxy: ProxyRule
  /// Returns whether `[network] allow` lists a host.
  let lists: @Sendable (String) -> Bool
  let log: ExchangeLog

  func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts {
    var request = request
    request.owner = owner
    request.addresses = rule().addresses(for: request.url)
    request.proxy = proxyRule(for: request.url)
    return try await log.reporting(request.method, request.url, outcome: { "\($0.status)" }) {
      [http, request] () async throws(HTTPFailure) in try await http.send(request)
    }
  }

  func open(_ request: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket {
    var request = request
    request.addresses = rule().addresses(for: request.url)
    request.proxy = proxyRule(for: request.url)
    return try await log.reporting("WebSocket", request.url, outcome: { _ in "open" }) {
      [sockets, request] () async throws(HTTPFailure) in try await sockets.open(request)
    }
  }

  private func proxyRule(for url: String) -> ProxyRule {
    var proxy = proxy
    proxy.isListed = URLRule.parts(url).map { lists($0.host) } ?? false
    return proxy
  }
}
