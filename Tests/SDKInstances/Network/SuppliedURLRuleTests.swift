import SDKProtocol
import Testing

@testable import SDKInstances

struct SuppliedURLRuleTests {
  private let rule = SuppliedURLRule(
    domains: ["vendor.example"],
    ownURLs: ["http://127.0.0.1:8080/x", "wss://own.example/faye", "https://own.example:8443"])

  @Test(arguments: [
    "https://vendor.example/x", "https://eu.vendor.example", "https://eu.vendor.example:8443/x",
    "https://own.example/y",
    "https://OWN.example:443/y", "https://own.example:8443", "http://127.0.0.1:8080/z",
  ])
  func `The vendor's domains and the origins of the settings are allowed`(url: String) throws {
    try rule.check(url, what: "instanceUrl")
  }

  @Test(arguments: [
    ("https://evil.example", "accessDenied"), ("https://notvendor.example", "accessDenied"),
    ("http://localhost:1", "accessDenied"), ("http://own.example", "invalidAuthParameters"),
    ("http://127.0.0.1:8081", "accessDenied"), ("http://127.0.0.1", "accessDenied"),
    ("https://127.0.0.1:8080", "accessDenied"), ("http://localhost:8080", "accessDenied"),
    ("https://own.example:80", "accessDenied"), ("https://eu.own.example", "accessDenied"),
    ("https://169.254.169.254/latest", "invalidAuthParameters"), ("https://[fe80::1]/", "invalidAuthParameters"),
    ("ftp://vendor.example", "invalidAuthParameters"),
  ])
  func `Anything else is refused with the reason`(url: String, expected: String) async {
    #expect(await reason { try rule.check(url, what: "instanceUrl") } == expected)
  }

  @Test func `Who made the instance does not matter`() async {
    let admin = SuppliedURLRule(domains: ["vendor.example"], ownURLs: ["https://own.example"], isOfAdmin: true)
    for url in ["https://evil.example", "https://own.example:8443", "http://127.0.0.1:1"] {
      #expect(await reason { try admin.check(url, what: "instanceUrl") } == "accessDenied", "\(url)")
    }
    #expect(await reason { try SuppliedURLRule.nowhere.check("https://a.example", what: "x") } == "accessDenied")
  }
}
