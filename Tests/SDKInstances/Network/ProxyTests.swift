import SDKProtocol
import Testing

@testable import SDKInstances

/// The proxy that settings and the environment name, and the hosts that are reached without it.
@Suite struct ProxyTests {
  @Test("A proxy is a URL with http, a host and a port, and nothing else")
  func servers() throws {
    let server = try #require(ProxyServer("http://Proxy.Example:3128"))
    #expect((server.host, server.port) == ("proxy.example", 3128))
    #expect(server.description == "http://proxy.example:3128")
    #expect(ProxyServer("http://[2001:db8::1]:80/")?.description == "http://[2001:db8::1]:80")
    for text in [
      "", "proxy.example:3128", "http://proxy.example", "https://proxy.example:443", "socks5://proxy.example:1080",
      "http://u:p@proxy.example:3128", "http://proxy.example:3128/path", "http://proxy.example:3128?q",
      "http://proxy.example:0", "http://proxy.example:70000", "http://:3128", "http://a b:3128",
    ] {
      #expect(ProxyServer(text) == nil, "\(text)")
    }
  }

  @Test("A mistake in a setting is named without the setting's text")
  func mistakes() {
    #expect(ProxyChoice("none") == ProxyChoice.none)
    #expect(ProxyChoice("environment") == .environment)
    #expect(ProxyChoice.mistake(in: "http://proxy.example:3128") == nil)
    let cases = [
      ("http://user:hunter2@proxy.example:3128", "must not hold credentials"),
      ("https://proxy.example:443", "over TLS and SOCKS proxies are not supported"),
      ("socks5h://proxy.example:1080", "over TLS and SOCKS proxies are not supported"),
      ("proxy.example", "must be \"none\", \"environment\" or http://HOST:PORT"),
      ("None", "must be \"none\""),
    ]
    for (text, words) in cases {
      let mistake = ProxyChoice.mistake(in: text)
      #expect(mistake?.contains(words) == true, "\(text): \(String(describing: mistake))")
      #expect(mistake?.contains("hunter2") == false)
    }
    for text in ["user", "user:a\nb", ":\(String(repeating: "x", count: 1024))"] {
      #expect(ProxyServer.mistake(inCredentials: text) != nil)
    }
    #expect(ProxyServer.mistake(inCredentials: "user:pass:word") == nil)
  }

  @Test("Settings of an instance are refused with their member")
  func instances() throws {
    #expect(try ProxyRule(proxy: nil, credentials: nil) == ProxyRule())
    let rule = try ProxyRule(proxy: "http://p.example:1", credentials: "u:p")
    #expect(rule.credentials == Secret("u:p") && rule.choice == ProxyChoice("http://p.example:1"))
    for (proxy, credentials, member) in [
      ("ftp://p.example:1", nil, "proxy"), (nil, "u:p", "proxy_credentials"), ("none", "u:p", "proxy_credentials"),
      ("environment", "u", "proxy_credentials"),
    ] as [(String?, String?, String)] {
      let error = #expect(throws: SDKError.self) { try ProxyRule(proxy: proxy, credentials: credentials) }
      #expect(error?.member == member)
    }
  }

  private func environment(_ variables: [String: String]) -> ProxyEnvironment { ProxyEnvironment { variables[$0] } }

  @Test("https_proxy comes before all_proxy, lower case before upper case, and an empty variable counts as unset")
  func variables() {
    func url(_ variables: [String: String]) -> String? { environment(variables).server?.description }
    #expect(url([:]) == nil)
    #expect(url(["http_proxy": "http://a:1", "HTTP_PROXY": "http://a:1"]) == nil)
    #expect(url(["HTTPS_PROXY": "http://b:2", "all_proxy": "http://c:3"]) == "http://b:2")
    #expect(url(["https_proxy": "http://a:1", "HTTPS_PROXY": "http://b:2"]) == "http://a:1")
    #expect(url(["https_proxy": "", "ALL_PROXY": "http://c:3"]) == "http://c:3")
  }

  @Test("A variable may leave out scheme and port, and hold credentials")
  func forms() {
    func server(_ text: String) -> ProxyServer? { environment(["https_proxy": text]).server }
    #expect(server("proxy.example")?.description == "http://proxy.example:1080")
    #expect(server("HTTP://proxy.example:3128/")?.description == "http://proxy.example:3128")
    #expect(server("http://[::1]")?.description == "http://[::1]:1080")
    #expect(server("http://u%40home:p%3Aw@proxy.example:3128")?.credentials == Secret("u@home:p:w"))
    #expect(server("http://user@proxy.example:3128")?.credentials == Secret("user:"))
    #expect(server("proxy.example:3128")?.credentials == nil)
  }

  @Test(
    "A variable that can't be used is named, without its value",
    arguments: [
      "https://hunter2.example:443", "socks5://hunter2:1", "http://", "http://u%zz:hunter2@p:1",
      "http://u%0Ahunter2@p:1",
      "a b hunter2",
    ])
  func unusable(text: String) {
    let environment = environment(["all_proxy": text])
    #expect(environment.server == nil)
    #expect(environment.mistake?.contains("all_proxy") == true)
    #expect(environment.mistake?.contains("hunter2") == false)
  }

  @Test("An exception is a host with all hosts below it, an address, or a range of addresses")
  func exceptions() {
    let list = ProxyExceptions(variable: "Example.org, .intranet.test,10.0.0.0/9 192.0.2.7,2001:db8::/32,[fd00::1]")
    for host in [
      "example.org", "www.example.org", "intranet.test", "a.b.intranet.test", "10.127.0.1", "192.0.2.7",
      "2001:db8:1::2",
      "fd00::1",
    ] {
      #expect(list.contains(host), "\(host)")
    }
    for host in [
      "notexample.org", "example.org.evil.test", "org", "10.128.0.1", "192.0.2.70", "2001:db9::1", "fd00::2",
    ] {
      #expect(!list.contains(host), "\(host)")
    }
    #expect(ProxyExceptions(variable: "*").contains("anything.test"))
    #expect(!ProxyExceptions(variable: "*, example.org").contains("anything.test"))
    #expect(!ProxyExceptions(variable: " , .,").contains("anything.test"))
    #expect(ProxyExceptions(["0.0.0.0/0"]).contains("8.8.8.8"))
    for text in ["10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0/8", "example.org/8", "::/129"] {
      #expect(AddressRange(text) == nil, "\(text)")
    }
  }
}
