import Testing

@testable import SDKKinds

/// A vendor's URL and its parts.
@Suite struct VendorURLTests {
  @Test func parts() throws {
    let plain = try #require(VendorURL("ws://127.0.0.1:8080/a/b?c=d#e", .webSocket))
    #expect(plain.host == "127.0.0.1" && plain.port == 8080 && plain.target == "/a/b?c=d" && !plain.isSecure)
    #expect(plain.serverName == nil && plain.authority == "127.0.0.1:8080")
    let name = try #require(VendorURL("WSS://Example.com?x", .webSocket))
    #expect(name.host == "example.com" && name.port == 443 && name.target == "/?x" && name.isSecure)
    #expect(name.serverName == "example.com" && name.authority == "example.com")
    let six = try #require(VendorURL("ws://[::1]:9/", .webSocket))
    #expect(six.host == "::1" && six.port == 9 && six.serverName == nil && six.authority == "[::1]:9")
    let web = try #require(VendorURL("https://a_b.example:65535#x", .http))
    #expect(web.host == "a_b.example" && web.port == 65535 && web.target == "/" && web.isSecure)
    #expect(VendorURL("http://localhost/", .http)?.port == 80)
  }

  @Test(
    "What is no URL of a WebSocket",
    arguments: [
      "", "ws:", "ws://", "http://a/", "ws://a:0/", "ws://a:65536/", "ws://a:+1/", "ws://a:x/", "ws://u@a/",
      "ws://[::1/", "ws://[::1]x/", "ws://a/b c", "ws://a/\r\nX: y", "ws://ä/", "ws://:1/", "ws://a\\b/", "ws://a:/",
    ])
  func refused(url: String) { #expect(VendorURL(url, .webSocket) == nil) }
}
