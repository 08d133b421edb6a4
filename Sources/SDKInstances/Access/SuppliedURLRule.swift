public import SDKProtocol

/// Where an instance may be led by what is not its definition: a vendor's answer, a channel key, a provider, a caller
/// who is no admin (`protocol.md`, "Who may call").
public struct SuppliedURLRule: Sendable, Hashable {
  private let isFree: Bool
  private let domains: [String]
  private let ownHosts: Set<String>

  /// Anywhere that `URLRule` allows: an admin made the instance.
  public static let free = SuppliedURLRule(isFree: true, domains: [], ownHosts: [])

  /// Only to these domains and those below them, and to the hosts that the instance's own settings name.
  public init(domains: [String], ownHosts: Set<String>) {
    self.init(isFree: false, domains: domains, ownHosts: ownHosts)
  }

  private init(isFree: Bool, domains: [String], ownHosts: Set<String>) {
    self.isFree = isFree
    self.domains = domains
    self.ownHosts = ownHosts
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
