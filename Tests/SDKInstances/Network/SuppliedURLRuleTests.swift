import SDKProtocol
import Testing

@testable import SDKInstances

struct SuppliedURLRuleTests {
  private let rule = SuppliedURLRule(domains: ["vendor.example"], ownHosts: ["127.0.0.1", "own.example"])

  @Test(arguments: [
    "https://vendor.example/x", "https://eu.vendor.example", "https://own.example/y", "http://127.0.0.1:8080/z",
  ])
  func `The vendor's domains and the hosts of the settings are allowed`(url: String) throws {
    try rule.check(url, what: "instanceUrl")
  }

  @Test(arguments: [
    ("https://evil.example", "accessDenied"), ("https://notvendor.example", "accessDenied"),
    ("http://localhost:1", "accessDenied"), ("http://own.example", "invalidAuthParameters"),
    ("https://169.254.169.254/latest", "invalidAuthParameters"), ("https://[fe80::1]/", "invalidAuthParameters"),
    ("ftp://vendor.example", "invalidAuthParameters"),
  ])
  func `Anything else is refused with the reason`(url: String, expected: String) async {
    #expect(await reason { try rule.check(url, what: "instanceUrl") } == expected)
  }

  @Test func `An admin's instance may be led anywhere but to link-local addresses`() async throws {
    try SuppliedURLRule.free.check("https://evil.example", what: "instanceUrl")
    #expect(
      await reason { try SuppliedURLRule.free.check("https://169.254.1.1", what: "x") } == "invalidAuthParameters")
  }
}
