import NIOCore
import NIOPosix
import SDKInstances
import Testing

@testable import SDKKinds

/// HTTP to vendors: certificates, redirects, bounds.
@Suite(.timeLimit(.minutes(1))) struct VendorHTTPClientTests {
  private func result(
    _ url: String, caFile: String? = nil, timeout: Double = 20
  ) async -> Result<HTTPResponseParts, HTTPFailure> {
    let client = VendorHTTPClient(group: .singleton)
    let answer: Result<HTTPResponseParts, HTTPFailure>
    do throws(HTTPFailure) {
      answer = .success(
        try await client.send(
          HTTPRequestParts(instance: "a", method: "GET", url: url, timeout: timeout, caFile: caFile)))
    } catch {
      answer = .failure(error)
    }
    await client.shutdown()
    return answer
  }

  private static let hello = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

  @Test("TLS by name and by address with the given certificates", arguments: ["localhost", "127.0.0.1"])
  func tls(host: String) async throws {
    let certificate = try TestCertificate()
    let server = try await TestSocketServer.start(.answer(Self.hello), tls: TestCertificate.serverContext())
    let answer = try await result("https://\(host):\(server.port)/", caFile: certificate.path).get()
    #expect(answer.status == 200)
    #expect(answer.body == Array("{}".utf8))
  }

  @Test("A client that nobody used is let go, and the next request makes another")
  func idle() async throws {
    let server = try await TestSocketServer.start(.answer(Self.hello))
    let client = VendorHTTPClient(group: .singleton, names: SystemNames.shared, idleTime: .hours(1))
    let request = HTTPRequestParts(instance: "a", method: "GET", url: "http://127.0.0.1:\(server.port)/")
    _ = try await client.send(request)
    await client.closeIdle()
    _ = try await client.send(request)
    #expect(server.connections == 1)
    await client.closeIdle()
    #expect(await client.clientCount == 1)
    await client.closeIdle()
    #expect(await client.clientCount == 0)
    _ = try await SocketWait.until("the end") { server.ended == 1 ? true : nil }
    _ = try await client.send(request)
    #expect(server.connections == 2)
    await client.shutdown()
  }

  @Test("A repeatable request whose connection ends is sent once more over a new one", arguments: [true, false])
  func repeated(isRepeatable: Bool) async throws {
    let server = try await TestSocketServer.start(.once(Self.hello))
    let client = VendorHTTPClient(group: .singleton, names: SystemNames.shared, idleTime: .hours(1))
    let url = "http://127.0.0.1:\(server.port)/"
    let request = HTTPRequestParts(instance: "a", method: "POST", url: url, isRepeatable: isRepeatable)
    _ = try await client.send(request)
    let failure = await SocketWait.failure { () throws(HTTPFailure) in _ = try await client.send(request) }
    #expect(isRepeatable ? failure == nil : SocketWait.isNetwork(failure))
    #expect(server.connections == (isRepeatable ? 2 : 1))
    await client.shutdown()
    // A server that answers nothing at all gets two connections at most.
    let mute = try await TestSocketServer.start(.once(nil))
    let other = VendorHTTPClient(group: .singleton)
    let again = HTTPRequestParts(
      instance: "a", method: "GET", url: "http://127.0.0.1:\(mute.port)/", isRepeatable: isRepeatable)
    #expect(
      SocketWait.isNetwork(await SocketWait.failure { () throws(HTTPFailure) in _ = try await other.send(again) }))
    #expect(mute.connections == (isRepeatable ? 2 : 1))
    await other.shutdown()
  }

  @Test("A redirect is an answer like any other: nothing is carried elsewhere")
  func redirect() async throws {
    let server = try await TestSocketServer.start(
      .answer("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"))
    #expect(try await result("http://127.0.0.1:\(server.port)/").get().status == 302)
  }

  @Test("A silent server costs its time and no more, and a body beyond the bound is too large")
  func bounds() async throws {
    let silent = try await TestSocketServer.start(.silence)
    guard case .failure(.timeout) = await result("http://127.0.0.1:\(silent.port)/", timeout: 0.3) else {
      Issue.record("the request did not time out")
      return
    }
    let body = String(repeating: "x", count: (1 << 20) + 1)
    let large = try await TestSocketServer.start(
      .answer("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"))
    guard case .failure(.tooLarge) = await result("http://127.0.0.1:\(large.port)/") else {
      Issue.record("the body was taken")
      return
    }
  }
}
