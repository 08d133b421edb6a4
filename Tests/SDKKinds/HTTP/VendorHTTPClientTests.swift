import Concurrency
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

  @Test("The instances of one owner share connections, and no others do")
  func shared() async throws {
    let server = try await TestSocketServer.start(.answer(Self.hello), tls: TestCertificate.serverContext())
    let (one, other) = (try TestCertificate(), try TestCertificate())
    let client = VendorHTTPClient(
      group: .singleton, names: FakeNames(["127.0.0.1"]), idleTime: .hours(1))
    func send(
      _ instance: String, of owner: ConnectionOwner, _ caFile: String, _ rule: AddressRule = .anywhere
    ) async throws {
      var parts = HTTPRequestParts(
        instance: instance, method: "GET", url: "https://localhost:\(server.port)/", caFile: caFile)
      (parts.owner, parts.addresses) = (owner, rule)
      #expect(try await client.send(parts).status == 200)
    }
    for instance in ["a", "b", "c"] { try await send(instance, of: .user(1), one.path) }
    #expect(server.connections == 1)
    try await send("d", of: .user(2), one.path)
    #expect(server.connections == 2)
    try await send("e", of: .daemon, one.path)
    #expect(server.connections == 3)
    try await send("b", of: .user(1), other.path)
    #expect(server.connections == 4)
    try await send("b", of: .user(1), one.path, .loopback)
    #expect(server.connections == 5)
    try await send("a", of: .user(1), one.path)
    #expect(server.connections == 5)
    await client.shutdown()
  }

  @Test("An instance whose requests hang keeps four connections, and the others of its owner are served")
  func budget() async throws {
    let server = try await TestSocketServer.start(.answerUnless(Self.hello, "/hang"))
    let client = VendorHTTPClient(group: .singleton)
    let url = "http://127.0.0.1:\(server.port)/"
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          _ = await SocketWait.failure { () throws(HTTPFailure) in
            _ = try await client.send(HTTPRequestParts(instance: "a", method: "GET", url: url + "hang"))
          }
        }
      }
      _ = try await SocketWait.until("the hanging requests") {
        await client.waitingCount == 4 && server.connections == RequestBudget.maximum ? true : nil
      }
      let status = try? await client.send(HTTPRequestParts(instance: "b", method: "GET", url: url)).status
      #expect(status == 200)
      #expect(server.connections == RequestBudget.maximum + 1)
      let failure = await SocketWait.failure { () throws(HTTPFailure) in
        _ = try await client.send(HTTPRequestParts(instance: "a", method: "GET", url: url, timeout: 0.1))
      }
      #expect(failure == .timeout)
      #expect(await client.waitingCount == 4)
      group.cancelAll()
    }
    // Each of them has left, whether it waited or not.
    #expect(await client.waitingCount == 0)
    #expect(try await client.send(HTTPRequestParts(instance: "a", method: "GET", url: url)).status == 200)
    await client.shutdown()
  }

  @Test("A request that waits begins when one of its instance ends, in the order of the calls")
  func turns() {
    var budget = RequestBudget()
    let key = RequestBudget.Requester(instance: "a", host: "x")
    let other = RequestBudget.Requester(instance: "a", host: "y")
    var turns: [Promise<Void>] = []
    for requester in Array(repeating: key, count: RequestBudget.maximum + 4) + [other] {
      if let turn = budget.enter(requester) { turns.append(turn) }
    }
    #expect(turns.count == 4)
    func begun() -> [Bool] { turns.map { $0.result != nil } }
    budget.leave(key)
    #expect(begun() == [true, false, false, false])
    budget.withdraw(turns[1], of: key)
    budget.leave(key)
    #expect(begun() == [true, false, true, false])
    // Its turn came while it stopped to wait.
    budget.withdraw(turns[2], of: key)
    #expect(begun() == [true, false, true, true])
    for _ in 0..<RequestBudget.maximum { budget.leave(key) }
    #expect(!budget.isEmpty)
    budget.leave(other)
    #expect(budget.isEmpty)
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
