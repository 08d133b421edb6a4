import NIOPosix
import SDKInstances
import Testing

@testable import SDKKinds

/// Responses that no honest vendor sends. Each fails only its own request, within the timeout.
@Suite(.timeLimit(.minutes(1))) struct HostileVendorTests {
  private func result(
    _ client: VendorHTTPClient, _ url: String, timeout: Double = 20
  ) async -> Result<String, HTTPFailure> {
    do throws(HTTPFailure) {
      let answer = try await client.send(HTTPRequestParts(instance: "a", method: "GET", url: url, timeout: timeout))
      return .success("\(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
    } catch {
      return .failure(error)
    }
  }

  private func result(_ manner: TestSocketServer.Manner, timeout: Double = 20) async throws -> Result<
    String, HTTPFailure
  > {
    let server = try await TestSocketServer.start(manner)
    let client = VendorHTTPClient(group: .singleton)
    let answer = await result(client, "http://127.0.0.1:\(server.port)/", timeout: timeout)
    await client.shutdown()
    return answer
  }

  private func isNetwork(_ result: Result<String, HTTPFailure>) -> Bool {
    if case .failure(.network) = result { true } else { false }
  }

  @Test(
    "A port that no connection has is refused before anything is connected to",
    arguments: ["0", "65536", "70000", "2147483648", "9223372036854775808", "99999999999"])
  func port(port: String) async {
    let client = VendorHTTPClient(group: .singleton)
    for host in ["127.0.0.1", "localhost", "[::1]"] {
      #expect(isNetwork(await result(client, "http://\(host):\(port)/")))
    }
    await client.shutdown()
  }

  @Test(
    "A status outside 200 to 999 fails the request",
    arguments: ["000", "001", "042", "099", "101", "1", "1000", "20", "-20", "2e2", "\u{663}00"])
  func status(text: String) async throws {
    let answer = try await result(.answer("HTTP/1.1 \(text) X\r\nContent-Length: 0\r\n\r\n"), timeout: 5)
    #expect(isNetwork(answer), "\(answer)")
  }

  @Test("Informational answers are passed over")
  func informational() async throws {
    let answer = try await result(
      .answer(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab")
    )
    #expect(answer == .success("200 ab"))
  }

  private static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

  @Test(
    "A response that costs more than its content ends the connection",
    arguments: [
      (String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 17), "informational"),
      (head + String(repeating: "1\r\na\r\n", count: 5000), "small parts"),
      (head + String(repeating: "1;\(String(repeating: "e", count: 4000))\r\na\r\n", count: 1200), ""),
    ])
  func costly(text: String, words: String) async throws {
    // The vendor sends no more bytes: a client that waits for the end runs into the timeout.
    let answer = try await result(.answer(text))
    guard case .failure(let failure) = answer, failure != .timeout else {
      Issue.record("\(answer)")
      return
    }
    #expect("\(failure)".contains(words), "\(failure)")
  }

  @Test("A response in many parts of a usual size is read, and so is a short one in single bytes")
  func chunks() async throws {
    for (size, count) in [(16, 20_000), (1, 4000), (1 << 16, 16)] {
      let chunk = "\(String(size, radix: 16))\r\n\(String(repeating: "a", count: size))\r\n"
      let answer = try await result(.answer(Self.head + String(repeating: chunk, count: count) + "0\r\n\r\n"))
      guard case .success(let text) = answer else {
        Issue.record("\(size): \(answer)")
        continue
      }
      #expect(text.utf8.count == size * count + 4)
    }
  }

  @Test("A second response to one request is dropped, and the next request gets its own")
  func secondResponse() async throws {
    let first = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"
    let server = try await TestSocketServer.start(
      .answers([first + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", first]))
    let client = VendorHTTPClient(group: .singleton)
    for _ in 0..<5 {
      #expect(await result(client, "http://127.0.0.1:\(server.port)/") == .success("200 1"))
    }
    await client.shutdown()
  }

  private static let stalls: [TestSocketServer.Manner] = [
    .answer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"),
    .answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"),
    .answer("HTTP/1.1 200 OK\r\n\r\nuntil the end"),
    .answer("HTTP/1.1 200 OK\r\nContent-Len"),
    .trickle("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", "x"),
    .trickle("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"),
    .trickle("HTTP/1.1 200 OK\r\n", "A: b\r\n"),
    .trickle("", "HTTP/1.1 100 Continue\r\n\r\n"),
  ]

  @Test("One deadline covers the head and the body", arguments: stalls.indices)
  func stall(index: Int) async throws {
    #expect(try await result(Self.stalls[index], timeout: 0.5) == .failure(.timeout))
  }

  @Test("A cancelled request ends at once, and so does one that is under way when the client shuts down")
  func cancellation() async throws {
    let server = try await TestSocketServer.start(Self.stalls[0])
    let url = "http://127.0.0.1:\(server.port)/"
    let client = VendorHTTPClient(group: .singleton)
    let cancelled = Task { await result(client, url, timeout: 600) }
    _ = try await SocketWait.until("a connection") { server.connections == 1 ? true : nil }
    cancelled.cancel()
    #expect(isNetwork(await cancelled.value))
    _ = try await SocketWait.until("its end") { server.ended == 1 ? true : nil }
    let stopped = Task { await result(client, url, timeout: 600) }
    _ = try await SocketWait.until("a connection") { server.connections == 2 ? true : nil }
    await client.shutdown()
    #expect(isNetwork(await stopped.value))
    #expect(isNetwork(await result(client, url)))
  }
}
