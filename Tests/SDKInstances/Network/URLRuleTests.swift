import SDKProtocol
import Testing

@testable import SDKInstances

struct URLRuleTests {
  @Test(arguments: [
    "https://acme.zendesk.com/sc/sdk", "HTTPS://acme.zendesk.com", "https://acme.zendesk.com:8443/a?b#c",
    "https://[2001:db8::1]/", "http://127.0.0.1:8080/", "http://127.1.2.3/", "http://localhost:1",
    "http://[::1]:8080/x",
    "http://LOCALHOST/", "https://127.0.0.1/", "https://my_shop.zendesk.com/", "https://3com.example:65535/",
    "https://xn--exmple-cua.com:1/", "https://10.0.0.1:443/", "https://localhost/", "https://a-b.c-d.example?x",
  ])
  func `HTTPS anywhere and HTTP to loopback are taken`(url: String) throws {
    try URLRule.check(url, setting: "base_url")
  }

  @Test(arguments: [
    "", "acme.zendesk.com", "http://acme.zendesk.com/", "ftp://localhost/", "javascript:alert(1)", "https:/x",
    "https:///x",
    "https://", "file:///etc/passwd", "http://localhost.evil.com/", "http://127.0.0.1.evil.com/",
    "http://127.0.0.1@evil.com/",
    "https://user@acme.com/", "https://user:pass@acme.com/", "http://evil.com\\@127.0.0.1/",
    "http://127.0.0.1\\.evil.com/",
    "https://a b.com/", "https://acme.com/a b", "https://acme.com/\r\nHost: evil", "https://acme.com/\u{0}",
    "http://128.0.0.1/",
    "http://0.0.0.0/", "http://10.0.0.1/", "http://[::2]/", "http://[::1].evil.com/", "http://[::1]evil.com/",
    "http://[::1/",
    "http://127.0.0/", "http://127.0.0.256/", "http://127.+0.0.1/", "http://127.0.0.-1/", "http://127.0..1/",
    "http://127.1/",
    "http://127.0.0.1:80:evil/", "http://127.0.0.1:x/", "https://acme.com:/\t", "http://localhost%2eevil.com/",
    "ws://localhost/", "https://exämple.com/", "https://acme.com/\u{7F}",
    // Hosts that an HTTP client or a resolver may interpret as a different host.
    "https://127.0.0.1%2f.zendesk.com/", "https://[x.zendesk.com]/", "https://.zendesk.com/", "https://a..b/",
    "https://acme.zendesk.com:/", "https://acme.zendesk.com:", "https://acme.zendesk.com./", "https://-a.com/",
    "https://a-.com/", "https://a!b.com/", "https://127.1/", "https://2130706433/", "https://0x7f.0.0.1/",
    "https://127.0.0.0x1/", "https://0177.0.0.1/", "https://1.2.3.4.5/", "https://[fe80::1%25eth0]/",
    "https://[::1%lo]/", "https://[127.0.0.1]/", "https://[]/", "https://a_/", "https://[::1]]/",
    "https://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.com/",
    // Port numbers outside 1 to 65535, or with a sign.
    "https://a.com:0/", "https://a.com:65536/", "https://a.com:70000/", "https://a.com:2147483648/",
    "https://a.com:9223372036854775808/", "https://a.com:99999999999999999999/", "https://a.com:+1/",
    "https://a.com:-1/", "https://[::1]:65536/", "http://127.0.0.1:65536/", "http://localhost:70000/",
  ])
  func `Anything else is refused, with the setting's name`(url: String) {
    let error = #expect(throws: SDKError.self) { try URLRule.check(url, setting: "base_url") }
    #expect(error?.member == "base_url")
    #expect(error?.message.hasPrefix("The setting base_url must") == true)
  }

  @Test func `Sockets have their own schemes`() throws {
    try URLRule.check("wss://a.com/", setting: "s", secure: "wss", plain: "ws")
    try URLRule.check("ws://127.0.0.1/", setting: "s", secure: "wss", plain: "ws")
    #expect(throws: SDKError.self) { try URLRule.check("https://a.com/", setting: "s", secure: "wss", plain: "ws") }
    #expect(throws: SDKError.self) { try URLRule.check("ws://a.com/", setting: "s", secure: "wss", plain: "ws") }
  }

  @Test func `A URL has a length`() throws {
    try URLRule.check("https://a.com/" + String(repeating: "a", count: 2034), setting: "s")
    #expect(throws: SDKError.self) {
      try URLRule.check("https://a.com/" + String(repeating: "a", count: 2035), setting: "s")
    }
  }

  @Test func `Loopback is what leads to this machine`() {
    for url in ["https://localhost/", "http://127.9.9.9:1/", "wss://[::1]/"] { #expect(URLRule.isLoopback(url)) }
    for url in ["https://localhost.evil.com", "https://127.0.0.1.evil.com", "https://acme.com", "localhost"] {
      #expect(!URLRule.isLoopback(url))
    }
  }
}
