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
}
