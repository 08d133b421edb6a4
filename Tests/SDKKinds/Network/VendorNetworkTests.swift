import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

/// The choice between a direct connection and a proxy.
@Suite struct VendorNetworkTests {
  private func network(
    _ proxy: String, credentials: String? = nil, exceptions: [String] = [], environment: [String: String] = [:]
  ) throws -> VendorNetwork {
    var options = NetworkOptions()
    options.proxy = try #require(ProxyChoice(proxy))
    options.credentials = credentials.map { Secret($0) }
    options.exceptions = ProxyExceptions(exceptions)
    return VendorNetwork(options, environment: ProxyEnvironment { environment[$0] })
  }

  private func proxy(
    _ url: String, _ network: VendorNetwork, _ rule: ProxyRule = ProxyRule()
  ) throws -> ProxyServer? {
    let parsed = url.hasPrefix("w") ? VendorURL(url, .webSocket) : VendorURL(url, .http)
    return try network.proxy(for: try #require(parsed), rule)
  }

  @Test(
    "This machine and exceptions are reached directly",
    arguments: [
      "https://localhost/", "https://127.0.0.2:8443/", "wss://[::1]/", "http://localhost/", "ws://127.0.0.1/",
      "https://chat.intranet.test/", "wss://10.1.2.3/",
    ])
  func direct(url: String) throws {
    #expect(try proxy(url, network("http://proxy.test:1", exceptions: ["intranet.test", "10.0.0.0/8"])) == nil)
  }

  @Test("Other hosts are reached through the proxy, with its credentials")
  func proxied() throws {
    let network = try network("http://proxy.test:3128", credentials: "u:p")
    for url in ["https://chat.example/", "wss://localhost.example/", "https://nolocalhost/"] {
      let server = try #require(try proxy(url, network))
      #expect(server.description == "http://proxy.test:3128" && server.credentials == Secret("u:p"))
    }
    network.use(NetworkOptions())
    #expect(try proxy("https://chat.example/", network) == nil)
  }

  @Test("An instance's proxy replaces the daemon's and never gets the daemon's credentials")
  func instances() throws {
    let network = try network("http://proxy.test:3128", credentials: "u:p", environment: ["https_proxy": "env.test:1"])
    let url = "https://chat.example/"
    #expect(try proxy(url, network, ProxyRule(proxy: "none", credentials: nil)) == nil)
    let own = try #require(try proxy(url, network, ProxyRule(proxy: "http://own.test:8080", credentials: nil)))
    #expect(own.description == "http://own.test:8080" && own.credentials == nil)
    let known = try proxy(url, network, ProxyRule(proxy: "http://own.test:8080", credentials: "a:b"))
    #expect(known?.credentials == Secret("a:b"))
    let environment = try proxy(url, network, ProxyRule(proxy: "environment", credentials: nil))
    #expect(environment?.description == "http://env.test:1" && environment?.credentials == nil)
  }

  @Test("The environment's proxy has its exceptions, and its credentials come first")
  func environment() throws {
    let variables = ["https_proxy": "http://e:f@env.test:1", "no_proxy": "internal.test"]
    let network = try network("environment", credentials: "u:p", environment: variables)
    #expect(try proxy("https://chat.internal.test/", network) == nil)
    #expect(try proxy("https://chat.example/", network)?.credentials == Secret("e:f"))
    #expect(network.shown?.url == "http://env.test:1")
    #expect(network.shown?.exceptions == ["internal.test"])
    #expect(try proxy("https://chat.example/", self.network("environment")) == nil)
    let broken = try self.network("environment", environment: ["https_proxy": "socks5://u:hunter2@x:1"])
    let failure = #expect(throws: HTTPFailure.self) { try proxy("https://chat.example/", broken) }
    #expect(String(describing: failure).contains("https_proxy"))
    #expect(!String(describing: failure).contains("hunter2"))
  }

  @Test("An IP address is named to a proxy only if it is listed, and a link-local one never")
  func addresses() throws {
    let network = try network("http://proxy.test:1")
    var listed = ProxyRule()
    listed.isListed = true
    for url in ["https://192.0.2.1/", "wss://[2001:db8::1]/"] {
      #expect(throws: HTTPFailure.self) { try proxy(url, network) }
      #expect(try proxy(url, network, listed) != nil)
    }
    #expect(throws: HTTPFailure.self) { try proxy("https://169.254.169.254/", network, listed) }
    #expect(try proxy("https://192.0.2.1/", self.network("none")) == nil)
  }
}
