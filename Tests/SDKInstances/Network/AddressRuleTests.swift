import Glibc
import Testing

@testable import SDKInstances

struct AddressRuleTests {
  private func address(_ text: String) throws -> NetworkAddress {
    var four = in_addr()
    var six = in6_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      return try #require(NetworkAddress(text: text, bytes: withUnsafeBytes(of: four) { Array($0) }))
    }
    try #require(inet_pton(AF_INET6, text, &six) == 1, "\(text)")
    return try #require(NetworkAddress(text: text, bytes: withUnsafeBytes(of: six) { Array($0) }))
  }

  @Test(arguments: [
    "169.254.169.254", "169.254.0.0", "169.254.255.255", "fe80::1", "febf::1", "::ffff:169.254.169.254",
    "::169.254.1.1", "64:ff9b::a9fe:a9fe", "2002:a9fe:101::1",
  ])
  func `Link-local addresses are refused always, however they are written`(text: String) throws {
    for rule in AddressRule.allCases {
      #expect(rule.refusal(of: try address(text)) == "its name leads to a link-local address, which is refused always")
    }
  }

  @Test(arguments: [
    "127.0.0.1", "127.255.0.9", "0.0.0.0", "0.1.2.3", "::1", "::", "::ffff:127.0.0.1", "::127.0.0.1",
    "64:ff9b::7f00:1", "2002:7f00:1::",
  ])
  func `Addresses of this machine are for whom an admin allowed it`(text: String) throws {
    #expect(AddressRule.outside.refusal(of: try address(text)) != nil)
    #expect(AddressRule.anywhere.refusal(of: try address(text)) == nil)
    #expect(AddressRule.loopback.refusal(of: try address(text)) == nil)
  }

  @Test(arguments: [
    "192.0.2.1", "10.0.0.1", "169.253.1.1", "169.255.1.1", "128.0.0.1", "2001:db8::1", "fec0::1", "fd00::1",
    "::ffff:192.0.2.1", "64:ff9b::c000:201", "2002:c000:201::", "ff02::1",
  ])
  func `Other machines are anybody's, but not without TLS`(text: String) throws {
    #expect(AddressRule.outside.refusal(of: try address(text)) == nil)
    #expect(AddressRule.anywhere.refusal(of: try address(text)) == nil)
    #expect(AddressRule.loopback.refusal(of: try address(text)) != nil)
  }

  @Test func `An address has 4 or 16 bytes`() {
    for count in [0, 3, 5, 15, 17] {
      #expect(NetworkAddress(text: "", bytes: Array(repeating: 0, count: count)) == nil)
    }
  }

  @Test func `Who named the host decides where its name may lead`() {
    let admin = SuppliedURLRule(domains: ["vendor.example"], ownURLs: ["https://desk.example"], isOfAdmin: true)
    let tenant = SuppliedURLRule(domains: ["vendor.example"], ownURLs: ["https://desk.vendor.example"])
    #expect(admin.addresses(for: "https://desk.example:8443/x") == .outside)
    #expect(admin.addresses(for: "https://desk.example/x") == .anywhere)
    #expect(admin.addresses(for: "wss://DESK.example/x") == .anywhere)
    #expect(admin.addresses(for: "https://of-the-vendor.example/x") == .outside)
    #expect(tenant.addresses(for: "https://desk.vendor.example/x") == .outside)
    for rule in [admin, tenant] {
      #expect(rule.addresses(for: "https://127.0.0.1:1/") == .anywhere)
      #expect(rule.addresses(for: "http://localhost:1/") == .loopback)
      #expect(rule.addresses(for: "ws://127.0.0.1:1/") == .loopback)
      #expect(rule.addresses(for: "nonsense") == .outside)
    }
  }
}
