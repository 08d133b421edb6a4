import Testing

@testable import SDKKinds

/// A WebSocket's URL and its parts.
@Suite struct SocketURLTests {
  @Test func parts() throws {
    let plain = try #require(SocketURL("ws://127.0.0.1:8080/a/b?c=d#e"))
    #expect(plain.host == "127.0.0.1" && plain.port == 8080 && plain.target == "/a/b?c=d" && !plain.isSecure)
    #expect(plain.isAddress && plain.authority == "127.0.0.1:8080")
    let name = try #require(SocketURL("WSS://Example.com?x"))
    #expect(name.host == "Example.com" && name.port == 443 && name.target == "/?x" && name.isSecure)
    #expect(!name.isAddress && name.authority == "Example.com")
    let six = try #require(SocketURL("ws://[::1]:9/"))
    #expect(six.host == "::1" && six.port == 9 && six.isAddress && six.authority == "[::1]:9")
  }

  @Test(
    "What is no URL of a WebSocket",
    arguments: [
      "", "ws:", "ws://", "http://a/", "ws://a:0/", "ws://a:65536/", "ws://a:+1/", "ws://a:x/", "ws://u@a/",
      "ws://[::1/", "ws://[::1]x/", "ws://a/b c", "ws://a/\r\nX: y", "ws://ä/", "ws://:1/", "ws://a\\b/",
    ])
  func refused(url: String) { #expect(SocketURL(url) == nil) }
}
