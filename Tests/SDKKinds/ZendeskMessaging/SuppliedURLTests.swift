import SDKInstances
import Testing

@testable import SDKKinds

struct SuppliedURLTests {
  private static let vendor = "https://acme.zendesk.com/sc/sdk"
  private static let listed = SuppliedURLRule(domains: ["zendesk.com", "smooch.io"], ownURLs: [])

  @Test(arguments: [
    ("wss://api.smooch.io/faye", true), ("wss://acme.zendesk.com/faye", true), ("ws://acme.zendesk.com/faye", false),
    ("wss://example.com/faye", false), ("ws://127.0.0.1/faye", false), ("wss://localhost/faye", false),
    ("wss://169.254.169.254/", false), ("https://api.smooch.io/", false), ("wss://u@api.smooch.io/", false),
    ("", false),
  ])
  func `A socket of the vendor's leads to a listed host, encrypted`(url: String, isUsable: Bool) {
    #expect(
      SuppliedURL.isUsable(url, from: Self.vendor, secure: "wss", plain: "ws", rule: Self.listed) == isUsable)
  }

  @Test func `To this machine leads only this machine, whoever made the instance`() {
    let local = "ws://127.0.0.1:8000/faye"
    let own = SuppliedURLRule(domains: [], ownURLs: ["http://127.0.0.1:8000/zm"], isOfAdmin: true)
    #expect(!SuppliedURL.isUsable(local, from: Self.vendor, secure: "wss", plain: "ws", rule: own))
    #expect(
      SuppliedURL.isUsable(local, from: "http://localhost:8000/zm", secure: "wss", plain: "ws", rule: own))
    #expect(!SuppliedURL.isUsable("https://example.com", from: Self.vendor, rule: own))
  }

  @Test func `A socket may be written as what it is upgraded from`() {
    #expect(SuppliedURL.socket("https://api.smooch.io/faye") == "wss://api.smooch.io/faye")
    #expect(SuppliedURL.socket("HTTP://127.0.0.1:1/faye") == "ws://127.0.0.1:1/faye")
    #expect(SuppliedURL.socket("wss://api.smooch.io/faye") == "wss://api.smooch.io/faye")
    #expect(SuppliedURL.socket("nonsense") == "nonsense")
  }
}
