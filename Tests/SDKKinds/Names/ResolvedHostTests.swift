import NIOCore
import NIOHTTP1
import NIOPosix
import SDKInstances
import Testing

@testable import SDKKinds

/// The check of a name's addresses before a connection, and the connection to a checked address only.
@Suite(.timeLimit(.minutes(1))) struct ResolvedHostTests {
  private static let hello = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

  private func get(_ client: VendorHTTPClient, _ url: String, _ rule: AddressRule, caFile: String? = nil) async
    -> Result<Int, HTTPFailure>
  {
    var parts = HTTPRequestParts(instance: "a", method: "GET", url: url, timeout: 20, caFile: caFile)
    parts.addresses = rule
    do throws(HTTPFailure) { return .success(try await client.send(parts).status) } catch { return .failure(error) }
  }

  private func isRefused(_ result: Result<Int, HTTPFailure>, _ words: String) -> Bool {
    if case .failure(.network(let why)) = result { why.contains(words) } else { false }
  }

  @Test("A name that leads to this machine is refused before it is connected to")
  func thisMachine() async throws {
    let server = try await TestSocketServer.start(.answer(Self.hello), tls: TestCertificate.serverContext())
    let certificate = try TestCertificate()
    let client = VendorHTTPClient(group: .singleton, names: FakeNames(["127.0.0.1"]))
    let url = "https://localhost:\(server.port)/"
    #expect(isRefused(await get(client, url, .outside, caFile: certificate.path), "this machine"))
    #expect(server.connections == 0)
    #expect(await get(client, url, .anywhere, caFile: certificate.path) == .success(200))
    await client.shutdown()
  }

  @Test("A link-local address is refused whoever named the host, also as one of several")
  func linkLocal() async {
    for answers in [["169.254.169.254"], ["192.0.2.1", "fe80::1"]] {
      let client = VendorHTTPClient(group: .singleton, names: FakeNames(answers))
      #expect(isRefused(await get(client, "https://desk.test/", .anywhere), "link-local"))
      await client.shutdown()
    }
    let client = VendorHTTPClient(group: .singleton)
    #expect(isRefused(await get(client, "https://169.254.169.254/", .anywhere), "link-local"))
    #expect(isRefused(await get(client, "https://[fe80::1]/", .anywhere), "link-local"))
    await client.shutdown()
  }

  @Test("The connection goes to the address that was checked, under the name of the URL, whatever its case")
  func pinned() async throws {
    let server = try await TestSocketServer.start(.answer(Self.hello))
    let names = FakeNames(["127.0.0.1"])
    let client = VendorHTTPClient(group: .singleton, names: names)
    // Only `names` knows this host: a client that used the system's resolver would not find it.
    #expect(await get(client, "http://Desk.Test:\(server.port)/A", .loopback) == .success(200))
    #expect(names.hosts == ["desk.test"])
    await client.shutdown()
  }

  @Test("A name that leads elsewhere the next time is checked again")
  func rebinding() async throws {
    let server = try await TestSocketServer.start(.answer(Self.hello))
    let client = VendorHTTPClient(
      group: .singleton, names: FakeNames(["127.0.0.1"], ["169.254.169.254"], ["192.0.2.1"], ["127.0.0.1"]))
    let url = "http://desk.test:\(server.port)/"
    #expect(await get(client, url, .loopback) == .success(200))
    #expect(isRefused(await get(client, url, .loopback), "link-local"))
    #expect(isRefused(await get(client, url, .loopback), "without TLS"))
    #expect(await get(client, url, .loopback) == .success(200))
    await client.shutdown()
  }

  @Test("An address where nobody answers gives way to the next")
  func next() async throws {
    let server = try await TestSocketServer.start(.answer(Self.hello))
    let client = VendorHTTPClient(group: .singleton, names: FakeNames(["127.0.0.99", "127.0.0.1"]))
    for _ in 0..<3 { #expect(await get(client, "http://desk.test:\(server.port)/", .loopback) == .success(200)) }
    await client.shutdown()
  }

  @Test("WebSockets obey the same rules")
  func sockets() async throws {
    let server = try await TestSocketServer.start()
    let names = FakeNames(["127.0.0.1"], ["169.254.1.1"], ["127.0.0.99", "127.0.0.1"])
    let client = VendorSocketClient(group: .singleton, limits: SocketLimits(), names: names)
    func open(_ rule: AddressRule) async -> HTTPFailure? {
      var parts = SocketRequestParts(instance: "a", url: "ws://desk.test:\(server.port)/")
      parts.addresses = rule
      do throws(HTTPFailure) {
        await (try client.open(parts)).close()
        return nil
      } catch {
        return error
      }
    }
    #expect(await open(.outside) == .network("its name leads to this machine, which only an admin may allow"))
    #expect(
      await open(.anywhere) == .network("its name leads to a link-local address, which is refused always"))
    #expect(server.connections == 0)
    #expect(await open(.loopback) == nil)
    #expect(server.heads.first?.headers["host"] == ["desk.test:\(server.port)"])
  }

  @Test("The system's names: what is written as an address is one, and localhost is this machine")
  func system() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    func texts(_ host: String) async throws -> [String] {
      try await SystemNames.shared.addresses(of: host, timeout: .seconds(20), on: loop).map(\.text)
    }
    #expect(try await texts("192.0.2.1") == ["192.0.2.1"])
    #expect(try await texts("2001:db8::1") == ["2001:db8::1"])
    let local = try await SystemNames.shared.addresses(of: "localhost", timeout: .seconds(20), on: loop)
    #expect(!local.isEmpty && local.allSatisfy { $0.scope == .thisMachine })
    // Other notations of addresses that resolvers accept are checked as the addresses that they mean.
    let short = try await SystemNames.shared.addresses(of: "0xa9fea9fe", timeout: .seconds(20), on: loop)
    #expect(short.allSatisfy { $0.scope == .linkLocal })
  }
}
