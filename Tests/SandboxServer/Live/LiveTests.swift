import Foundation
import JSONRPC
import Testing
import Waiting

@testable import SandboxServer

/// The sandbox over real connections.
@Suite(.timeLimit(.minutes(2))) struct LiveTests {
  let login = "\(TestSandbox.app)/login"

  @Test func `A user signs in and is recognised on the same connection`() async throws {
    try await LiveSandbox.run { sandbox in
      let authorization = ["Authorization": "Bearer \(DemoToken(externalID: "alice").text)"]
      let client = try RawClient(port: sandbox.port)
      try await client.send(LiveSandbox.bytes("POST", login, Data(#"{"userId":"alice"}"#.utf8), headers: authorization))
      let response = try await client.readResponse()
      #expect(response.status == 200)
      #expect(response.headers["date"]?.hasSuffix(" GMT") == true)
      #expect(response.headers["content-type"] == "application/json")
      let id = try #require(response.tree?["appUser"]?["_id"]?.stringValue)
      try await client.send(LiveSandbox.bytes("GET", "\(TestSandbox.app)/appusers/\(id)", headers: authorization))
      #expect(try await client.readResponse().tree?["appUser"]?["userId"] == "alice")
      let log = try await sandbox.send("GET", "/_log").tree?["requests"]
      guard case .array(let entries)? = log else { return }
      #expect(entries.map { $0["status"] } == [200, 200])
    }
  }

  @Test func `A cut body is shorter than announced and the connection is closed`() async throws {
    try await LiveSandbox.run { sandbox in
      for script in [
        ["route": "/**", "closeMidBody": true, "passThrough": true],
        ["route": "/**", "closeMidBody": true, "body": ["a": "bcd"]], ["route": "/**", "closeMidBody": true],
      ] as [JSON] {
        #expect(try await sandbox.send("POST", "/_control", script).status == 200)
        let client = try RawClient(port: sandbox.port)
        try await client.send(LiveSandbox.bytes("POST", "\(TestSandbox.app)/appusers"))
        let response = try #require(RawResponse(try await client.readToEnd()))
        #expect(response.status == 200)
        #expect(!response.body.isEmpty)
        #expect(response.body.count < response.length ?? 0)
      }
    }
  }

  @Test func `Hanging requests hold nobody up and end without a byte`() async throws {
    try await LiveSandbox.run { sandbox in
      _ = try await sandbox.send("POST", "/_control", ["route": "POST /**", "hang": true, "times": 20])
      let clients = try (1...20).map { _ in try RawClient(port: sandbox.port) }
      for client in clients { try await client.send(LiveSandbox.bytes("POST", login)) }
      _ = try await sandbox.send("GET", "/_log?count=20&waitMs=30000")
      #expect(try await sandbox.send("GET", "/zm").status == 404)
      while try await sandbox.send("GET", "/_control").tree?["held"] != 20 {}
      #expect(try await sandbox.send("DELETE", "/_control").tree?["held"] == 0)
      for client in clients { #expect(try await client.readToEnd().isEmpty) }
    }
  }

  @Test func `Stopping does not wait for what hangs, nor for idle connections`() async throws {
    let server = try SandboxServer()
    let sandbox = LiveSandbox(port: try await server.start(), server: server)
    _ = try await sandbox.send("POST", "/_control", ["route": "/**", "hang": true, "times": 2])
    let idle = try RawClient(port: sandbox.port)
    let clients = try (1...2).map { _ in try RawClient(port: sandbox.port) }
    for client in clients { try await client.send(LiveSandbox.bytes("POST", login)) }
    _ = try await sandbox.send("GET", "/_log?count=2&waitMs=30000")
    await server.stop()
    for client in clients + [idle] { #expect(try await client.readToEnd().isEmpty) }
    #expect(throws: RawClient.Failure.self) { try RawClient(port: sandbox.port) }
  }

  @Test func `A server that nobody refers to any more stops`() async throws {
    let port = try await SandboxServer().start()
    var patience = Patience(.seconds(60))
    while (try? RawClient(port: port)) != nil, !patience.isOver() { try await Task.sleep(for: .milliseconds(5)) }
    #expect(throws: RawClient.Failure.self) { try RawClient(port: port) }
  }

  @Test func `A body that is too large gets its answer and an end`() async throws {
    try await LiveSandbox.run { sandbox in
      let client = try RawClient(port: sandbox.port)
      try await client.send(LiveSandbox.bytes("POST", login, Data(count: SandboxLimits.body + 1)))
      #expect(try #require(RawResponse(try await client.readToEnd())).status == 413)
      let largest = try RawClient(port: sandbox.port)
      try await largest.send(LiveSandbox.bytes("POST", login, Data(count: SandboxLimits.body)))
      #expect(try await largest.readResponse().status == 401)
    }
  }

  @Test func `A chunked body is read like any other`() async throws {
    try await LiveSandbox.run { sandbox in
      let client = try RawClient(port: sandbox.port)
      let head = "POST \(TestSandbox.app)/appusers HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      try await client.send(Data("\(head)a\r\n{\"locale\":\r\n5\r\n\"de\"}\r\n0\r\n\r\n".utf8))
      #expect(try await client.readResponse().tree?["appUser"]?["locale"] == "de")
    }
  }

  @Test func `Many at once are all answered`() async throws {
    try await LiveSandbox.run { sandbox in
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<100 {
          group.addTask {
            let token = DemoToken(externalID: "user-\(number % 10)").text
            return try await sandbox.send("POST", login, headers: ["Authorization": "Bearer \(token)"]).status
          }
        }
        return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      }
      #expect(statuses == [200: 100])
      guard case .array(let users)? = try await sandbox.send("GET", "/_state").tree?["zm"]?["users"] else { return }
      #expect(users.count == 10)
    }
  }

  @Test(arguments: [
    "\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "\u{0}\u{1}\r\n\r\n",
    "GET http://[x/ HTTP/1.1\r\n\r\n", "GET %00%ff HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: \"\r\n\r\n",
    "POST /_control HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "GET /?%=&=&& HTTP/1.1\r\n\r\n",
    "GET //// HTTP/1.1\r\n\r\n", "OPTIONS * HTTP/1.1\r\n\r\n", "GET /ns/../_log HTTP/1.1\r\n\r\n",
  ])
  func `Whatever comes in, the sandbox stays up`(bytes: String) async throws {
    try await LiveSandbox.run { sandbox in
      do {
        let client = try RawClient(port: sandbox.port)
        try await client.send(Data(bytes.utf8))
      }
      #expect(try await sandbox.send("GET", "/_log").status == 200)
    }
  }

  @Test func `A port that is taken is an error`() async throws {
    try await LiveSandbox.run { sandbox in
      let second = try SandboxServer(port: sandbox.port)
      await #expect(throws: (any Error).self) { try await second.start() }
    }
  }
}
