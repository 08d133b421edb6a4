import AsyncHTTPClient
import Foundation
import SDKProtocol

@testable import SDKInstances
@testable import SDKKinds
@testable import sdkd

extension FuzzTarget {
  /// URLs, hosts and addresses: one in each line. What is taken is compared with how the HTTP client reads it.
  static let urls = FuzzTarget("urls", maximumLength: 512) { input in
    for line in input.lines {
      if let url = VendorURL(line, .http) { compare(url, line) }
      _ = VendorURL(line, .webSocket)
      if let parts = URLRule.parts(line) { check(parts, line) }
      do throws(SDKError) { try URLRule.check(line, setting: "base_url") } catch { Check.error(error) }
      supplied(line)
      if let address = NetworkAddress(literal: line) {
        require(NetworkAddress(literal: address.text)?.bytes == address.bytes, "\(line) is two addresses.")
        _ = AddressRule.allCases.map { $0.refusal(of: address) }
      }
      _ = HostPattern.isValid(line)
      _ = SalesforceUserID(identityURL: line)
      _ = SalesforceText.base(line)
      let encoded = PercentEncoding.value(line)
      require(encoded.removingPercentEncoding == line, "A text is another one after encoding: \(encoded)")
      require(
        !PercentEncoding.segment(line).contains { "/?#.%\r\n".dropLast(2).contains($0) && $0 != "%" },
        "A segment leads on.")
    }
  }

  private static func check(_ parts: URLRule.Parts, _ url: String) {
    require(parts.port != 0, "\(url) has the port 0.")
    let isAddress = NetworkAddress(literal: parts.host) != nil
    let isName = parts.host.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || [0x2D, 0x2E, 0x5F].contains($0)
    }
    require(isAddress || isName && !parts.host.isEmpty, "\(url) has the host \(parts.host).")
    // The digits at the end of the authority, without the parsers under test.
    guard let slashes = url.range(of: "://") else { fatalError("\(url) has no scheme.") }
    let authority = url[slashes.upperBound...].prefix { !"/?#".contains($0) }
    guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else { return }
    let port = Int(authority[colon...].dropFirst())
    require(port.map { (1...65_535).contains($0) } ?? false, "\(url) is taken with the port \(authority[colon...]).")
  }

  /// The client must go where the check says, or another host is reached than was allowed.
  private static func compare(_ url: VendorURL, _ text: String) {
    let asked = "\(url.isSecure ? "https" : "http")://\(url.authority)\(url.target)"
    guard let request = try? HTTPClient.Request(url: asked) else { return }
    let host = request.host.trimmingCharacters(in: ["[", "]"]).lowercased()
    require(host == url.host, "\(text) leads to \(url.host) for us and to \(host) for the client.")
    require(
      request.port == Int(url.port), "\(text) has the port \(url.port) for us and \(request.port) for the client.")
    if let theirs = URL(string: text)?.host?.trimmingCharacters(in: ["[", "]"]).lowercased() {
      require(theirs == url.host, "\(text) leads to \(url.host) for us and to \(theirs) for Foundation.")
    }
  }

  private static func supplied(_ url: String) {
    let rule = SuppliedURLRule(domains: ["zendesk.com"], ownURLs: [])
    do throws(SDKError) {
      try rule.check(url, what: "url")
      guard let host = URL(string: url)?.host?.lowercased() else { return }
      require(host == "zendesk.com" || host.hasSuffix(".zendesk.com"), "\(url) leads to \(host).")
    } catch {
      Check.error(error)
    }
    _ = rule.addresses(for: url)
    _ = SuppliedURL.socket(url)
  }

  /// URLs that outsiders supply to a definition. The first line is the definition's own URL, the second has the domains of
  /// `[network] allow`, and each other line is a supplied URL.
  static let supplied = FuzzTarget("supplied", maximumLength: 1024) { input in
    let lines = input.lines
    guard lines.count > 2 else { return }
    let domains = lines[1].split(separator: " ").map { $0.lowercased() }.filter(HostPattern.isValid)
    let reach = Reach(own: [lines[0]], domains: domains)
    for isOfAdmin in [false, true] {
      let rule = SuppliedURLRule(domains: domains, ownURLs: [lines[0]], isOfAdmin: isOfAdmin)
      for url in lines.dropFirst(2) {
        for (spoken, secure, plain) in [(VendorURL.Spoken.http, "https", "http"), (.webSocket, "wss", "ws")] {
          do throws(SDKError) {
            try rule.check(url, what: "url", secure: secure, plain: plain)
            taken(url, spoken, by: rule, reach)
          } catch {
            Check.error(error)
            require(url != lines[0] || !isUsable(url, secure, plain), "\(url) is refused to its own definition.")
          }
        }
      }
    }
  }

  private static func isUsable(_ url: String, _ secure: String, _ plain: String) -> Bool {
    (try? URLRule.check(url, setting: "url", secure: secure, plain: plain)) != nil
  }

  /// Checks an allowed URL, and those that are made of it: the connection goes to a place of the definition or of the list.
  private static func taken(_ url: String, _ spoken: VendorURL.Spoken, by rule: SuppliedURLRule, _ reach: Reach) {
    let authority = url.drop { $0 != "/" }.dropFirst(2).prefix { !"/?#".contains($0) }
    require(!authority.contains { "@\\%\t\r\n ".contains($0) }, "\(url) is taken with the authority \(authority).")
    var made = [(url, spoken)]
    if spoken == .http {
      made.append((SuppliedURL.socket(url), .webSocket))
      if let base = SalesforceText.base(url) { made.append((base + "/services/oauth2/token", .http)) }
    }
    for (made, spoken) in made {
      guard let parts = VendorURL(made, spoken) else { fatalError("\(url) is taken, and \(made) leads nowhere.") }
      let asked = "\(parts.isSecure ? "https" : "http")://\(parts.authority)\(parts.target)"
      require(reach.has(asked), "\(url) is taken and leads to \(parts.authority).")
      let addresses = rule.addresses(for: made)
      require(parts.isSecure || addresses == .loopback, "\(made) may lead to another machine without TLS.")
      require(
        reach.isOwn(asked) || URLRule.isLoopback(made) || addresses == .outside, "\(made) may lead to this machine.")
    }
  }
}

/// The places to which requests may lead: the origins of a definition's own URLs, and listed domains. URLs are read by the
/// HTTP client, not by the parsers under test.
struct Reach: Sendable {
  private struct Place: Hashable {
    let isSecure: Bool
    let host: String
    let port: Int

    init?(_ url: String) {
      // The path does not matter, and a definition's may have characters that this client does not take.
      let place = url.prefix { $0 != ":" } + "://" + url.drop { $0 != "/" }.dropFirst(2).prefix { !"/?#".contains($0) }
      let text = place.lowercased().hasPrefix("ws") ? "http" + place.dropFirst(2) : String(place)
      // The client traps on an IP address with a port that is none.
      guard let url = URL(string: text), (0...65_535).contains(url.port ?? 0),
        let request = try? HTTPClient.Request(url: url)
      else { return nil }
      isSecure = request.url.scheme?.lowercased() == "https"
      host = request.host.trimmingCharacters(in: ["[", "]"]).lowercased()
      port = request.port
    }
  }

  private let own: Set<Place>
  private let domains: [String]

  init(own: [String], domains: [String]) {
    self.own = Set(own.compactMap(Place.init))
    self.domains = domains
  }

  /// Whether a URL leads to an origin of the definition.
  func isOwn(_ url: String) -> Bool { Place(url).map(own.contains) ?? false }

  /// Whether a request to a URL is allowed.
  func has(_ url: String) -> Bool {
    guard let place = Place(url) else { return false }
    return own.contains(place)
      || place.isSecure && domains.contains { place.host == $0 || place.host.hasSuffix(".\($0)") }
  }
}
