public import SDKProtocol

/// The rule for the hosts in URLs that come from outside an instance's definition (sdkd-protocol(7)): from vendor
/// responses, channel keys, providers, and callers other than admins.
public struct SuppliedURLRule: Sendable, Hashable {
  private let isFree: Bool
  private let domains: [String]
  private let ownHosts: Set<String>

  /// The rule that allows any host that `URLRule` allows, for instances that an admin made.
  public static let free = SuppliedURLRule.free(ownHosts: [])

  /// The rule that allows no host.
  static let nowhere = SuppliedURLRule(domains: [], ownHosts: [])

  /// Returns a rule for any host that `URLRule` allows. Hosts that the settings name may also be on this machine.
  public static func free(ownHosts: Set<String>) -> SuppliedURLRule {
    SuppliedURLRule(isFree: true, domains: [], ownHosts: ownHosts)
  }

  /// Creates a rule for these domains and their subdomains, and for the hosts that the instance's own settings name.
  public init(domains: [String], ownHosts: Set<String>) {
    self.init(isFree: false, domains: domains, ownHosts: ownHosts)
  }

  private init(isFree: Bool, domains: [String], ownHosts: Set<String>) {
    self.isFree = isFree
    self.domains = domains
    self.ownHosts = ownHosts
  }

  /// Returns the rule for the IP addresses to which a URL's host name may resolve. Without it, an allowed name could be
  /// made to resolve to this machine or to a link-local address.
  public func addresses(for url: String) -> AddressRule {
    guard let parts = URLRule.parts(url) else { return .outside }
    if parts.scheme == "http" || parts.scheme == "ws" { return .loopback }
    // The right to name this machine was checked when the URL was supplied.
    if URLRule.isLoopback(url) || isFree && ownHosts.contains(parts.host) { return .anywhere }
    return .outside
  }

  /// Checks a URL that comes from outside the definition.
  ///
  /// - Parameter what: the URL's name at its source, for the error message and as its `member`.
  /// - Throws: `invalidAuthParameters` for a URL that `URLRule` refuses, `accessDenied` for a host that is not allowed.
  public func check(
    _ url: String, what: String, secure: String = "https", plain: String = "http"
  ) throws(SDKError) {
    try URLRule.check(url, setting: what, secure: secure, plain: plain)
    guard !isFree, let host = URLRule.parts(url)?.host, !ownHosts.contains(host) else { return }
    if !URLRule.isLoopback(url), domains.contains(where: { host == $0 || host.hasSuffix(".\($0)") }) { return }
    throw SDKError(
      .access, .accessDenied,
      "\(what) leads to \(host), which [network] allow does not list; an admin can add it.", member: what)
  }
}

/// The HTTP and WebSocket client that adapters get. It adds the address rule and the proxy to every request, so that no
/// adapter can omit them.
struct GuardedNetwork: HTTPSending, SocketOpening {
  let http: any HTTPSending
  let sockets: any SocketOpening
  let rule: @Sendable () -> SuppliedURLRule
  let proxy: ProxyRule
  /// Returns whether `[network] allow` lists a host.
  let lists: @Sendable (String) -> Bool

  func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts {
    var request = request
    request.addresses = rule().addresses(for: request.url)
    request.proxy = proxyRule(for: request.url)
    return try await http.send(request)
  }

  func forget(instance: String) async { await http.forget(instance: instance) }

  func open(_ request: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket {
    var request = request
    request.addresses = rule().addresses(for: request.url)
    request.proxy = proxyRule(for: request.url)
    return try await sockets.open(request)
  }

  private func proxyRule(for url: String) -> ProxyRule {
    var proxy = proxy
    proxy.isListed = URLRule.parts(url).map { lists($0.host) } ?? false
    return proxy
  }
}
