import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

/// Requests and WebSockets through a proxy, and the failures of the proxy.
@Suite(.timeLimit(.minutes(1))) struct TunnelTests {
  /// A client with a proxy.
  enum Way: CaseIterable {
    case http, webSocket

    /// Returns the failure of a connection to `chat.example` through a proxy at this port; `nil` if there is none.
    func failure(
      port: Int, proxy: Int, credentials: String? = nil, caFile: String? = nil, timeout: Double = 30,
      names: FakeNames = FakeNames(["127.0.0.1"])
    ) async -> HTTPFailure? {
      var options = NetworkOptions()
      options.proxy = ProxyChoice("http://proxy.test:\(proxy)") ?? .none
      options.credentials = credentials.map { Secret($0) }
      options.caFile = caFile
      let network = VendorNetwork(options)
      switch self {
      case .http:
        let client = VendorHTTPClient(group: .singleton, names: names, network: network)
        let failure = await SocketWait.failure { () throws(HTTPFailure) in
          _ = try await client.send(
            HTTPRequestParts(instance: "a", method: "GET", url: "https://chat.example:\(port)/", timeout: timeout))
        }
        await client.shutdown()
        return failure
      case .webSocket:
        let client = VendorSocketClient(group: .singleton, limits: SocketLimits(), names: names, network: network)
        return await SocketWait.failure { () throws(HTTPFailure) in
          let parts = SocketRequestParts(instance: "a", url: "wss://chat.example:\(port)/", timeout: timeout)
          await (try client.open(parts)).close()
        }
      }
    }

    /// Returns a vendor's server with a certificate for `chat.example`.
    func vendor(_ manner: TestSocketServer.Manner? = nil) async throws -> TestSocketServer {
      let usual: TestSocketServer.Manner =
        self == .http ? .answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") : .plain
      return try await .start(manner ?? usual, tls: TestCertificate.serverContext(.otherName))
    }
  }

  private func says(_ failure: HTTPFailure?, _ words: String) -> Bool {
    if case .proxy(let why)? = failure { why.contains(words) && why.contains("http://proxy.test:") } else { false }
  }

  @Test(
    "The tunnel leads to the vendor, whose certificate is checked, and only the proxy's name is resolved",
    arguments: Way.allCases)
  func tunnel(way: Way) async throws {
    let (proxy, vendor, certificate) = (
      try await TestProxy.start(), try await way.vendor(), try TestCertificate(.otherName)
    )
    let names = FakeNames(["127.0.0.1"])
    let failure = await way.failure(
      port: vendor.port, proxy: proxy.port, credentials: "user:päss", caFile: certificate.path, names: names)
    #expect(failure == nil)
    #expect(names.hosts == ["proxy.test"])
    let head = try #require(proxy.heads.first)
    #expect(proxy.heads.count == 1 && head.hasPrefix("CONNECT chat.example:\(vendor.port) HTTP/1.1\r\n"))
    #expect(head.lowercased().contains("proxy-authorization: basic dxnlcjpww6rzcw==\r\n"))
    #expect(vendor.heads.allSatisfy { !$0.headers.contains(name: "Proxy-Authorization") })
  }

  @Test("A certificate that is not trusted is refused with its fault through a tunnel too", arguments: Way.allCases)
  func untrusted(way: Way) async throws {
    let (proxy, vendor, other) = (try await TestProxy.start(), try await way.vendor(), try TestCertificate(.good))
    let failure = await way.failure(port: vendor.port, proxy: proxy.port, caFile: other.path)
    guard case .insecure(let why)? = failure else { return #expect(Bool(false), "\(String(describing: failure))") }
    #expect(why.contains("no authority in the file of ca_file"))
  }

  @Test(
    "A proxy that opens no tunnel is named with its status",
    arguments: Way.allCases,
    [
      ("407 Proxy Authentication Required", nil, "wants credentials (status 407)"),
      ("407 Proxy Authentication Required", "u:hunter2", "refused the credentials (status 407)"),
      ("403 Forbidden", nil, "refused to connect to chat.example:443 with status 403"),
      ("302 Found\r\nLocation: https://elsewhere.test/", nil, "with status 302"),
      ("502 Bad Gateway", nil, "could not connect to chat.example:443 (status 502)"),
    ] as [(String, String?, String)])
  func refusals(way: Way, scene: (status: String, credentials: String?, words: String)) async throws {
    let body = "<html><body>Blocked by policy</body></html>"
    let proxy = try await TestSocketServer.start(
      .answer(
        "HTTP/1.1 \(scene.status)\r\nContent-Type: text/html\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"))
    let failure = await way.failure(port: 443, proxy: proxy.port, credentials: scene.credentials)
    #expect(says(failure, scene.words), "\(String(describing: failure))")
    #expect(!String(describing: failure).contains("hunter2"))
  }

  @Test(
    "A proxy that answers with something else is named", arguments: Way.allCases,
    [
      "SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n\u{15}\u{3}\u{1}",
      "HTTP/1.1 \(String(repeating: "x", count: 200_000))",
    ])
  func garbage(way: Way, answer: String) async throws {
    let proxy = try await TestSocketServer.start(.answer(answer))
    let failure = await way.failure(port: 443, proxy: proxy.port, timeout: 2)
    if case .insecure? = failure { return }  // The HTTP client takes bytes after the head for the server's.
    #expect(says(failure, ""), "\(String(describing: failure))")
  }

  @Test("A proxy that hangs is named when the time of the request is over", arguments: Way.allCases)
  func hang(way: Way) async throws {
    let proxy = try await TestSocketServer.start(.silence)
    let failure = await way.failure(port: 443, proxy: proxy.port, timeout: 0.5)
    #expect(says(failure, "in time"), "\(String(describing: failure))")
    _ = try await SocketWait.until("the connection is closed") {
      proxy.connections > 0 && (proxy.ended > 0 || way == .http) ? true : nil
    }
  }

  @Test("A proxy that trickles its answer is named when the time is over", arguments: Way.allCases)
  func trickle(way: Way) async throws {
    let proxy = try await TestSocketServer.start(.trickle("HTTP/1.1 200 OK\r\n", "X-Pad: 1\r\n"))
    let failure = await way.failure(port: 443, proxy: proxy.port, timeout: 1)
    #expect(says(failure, ""), "\(String(describing: failure))")
  }

  @Test("A proxy that does not run is named", arguments: Way.allCases)
  func down(way: Way) async throws {
    // Bound but not listening, so that no server of another test can get the port.
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutableBytes(of: &address) { bytes in
      guard let place = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
      return bind(descriptor, place, size) == 0 && getsockname(descriptor, place, &size) == 0
    }
    #expect(isBound)
    let port = Int(UInt16(bigEndian: address.sin_port))
    let failure = await way.failure(port: 443, proxy: port)
    #expect(says(failure, "can't be connected to"), "\(String(describing: failure))")
    #expect(says(await way.failure(port: 443, proxy: port, names: FakeNames([])), "no address"))
  }

  @Test("A vendor that hangs behind a proxy is the one that is late", arguments: Way.allCases)
  func lateVendor(way: Way) async throws {
    let proxy = try await TestProxy.start()
    let (vendor, certificate) = (try await way.vendor(.silence), try TestCertificate(.otherName))
    let failure = await way.failure(port: vendor.port, proxy: proxy.port, caFile: certificate.path, timeout: 2)
    #expect(failure == .timeout)
  }
}
