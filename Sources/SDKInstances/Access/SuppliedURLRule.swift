public import SDKProtocol

/// Where an instance may be led by what is not its definition: a vendor's answer, a channel key, a provider, a caller
/// who is no admin (`protocol.md`, "Who may call").
public struct SuppliedURLRule: Sendable, Hashable {
  private let isFree: Bool
  private let domains: [String]
  private let ownHosts: Set<String>

  /// Anywhere that `URLRule` allows: an admin made the instance.
  public static let free = SuppliedURLRule.free(ownHosts: [])

  /// To no host at all.
  static let nowhere = SuppliedURLRule(domains: [], ownHosts: [])

  /// Anywhere that `URLRule` allows, and at addresses of this machine for hosts that the settings name.
  public static func free(ownHosts: Set<String>) -> SuppliedURLRule {
    SuppliedURLRule(isFree: true, domains: [], ownHosts: ownHosts)
  }

  /// Only to these domains and those below them, and to the hosts that the instance's own settings name.
  public init(domains: [String], ownHosts: Set<String>) {
    self.init(isFree: false, domains: domains, ownHosts: ownHosts)
  }

  private init(isFree: Bool, domains: [String], ownHosts: Set<String>) {
    self.isFree = isFree
    self.domains = domains
    self.ownHosts = ownHosts
  }

  /// Where a connection for a URL may end once its name is resolved. Without this a name that is allowed could be made
  /// to lead to this machine, or to the link that it is on.
  public func addresses(for url: String) -> AddressRule {
    guard let parts = URLRule.parts(url) else { return .outside }
    if parts.scheme == "http" || parts.scheme == "ws" { return .loopback }
    // Who may name this machine was asked when the URL came.
    if URLRule.isLoopback(url) || isFree && ownHosts.contains(parts.host) { return .anywhere }
    return .outside
  }

  /// Checks a URL that somebody supplied.
  ///
  /// - Parameter what: what the URL is called where it came from, for the message and as its `member`.
  /// - Throws: `invalidAuthParameters` for a URL that nobody may use, `accessDenied` for a host that is not allowed.
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
