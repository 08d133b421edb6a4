import JSONRPC
import SDKInstances
import SDKProtocol
import Synchronization
import Testing

@testable import SDKKinds

/// Requests, acknowledgements and unsolicited messages on a socket to Chat Center.
@Suite(.timeLimit(.minutes(1))) struct EdnaConnectionTests {
  private static let request: JSONObject = ["action": "updateDevice", "data": ["pnsPushAddress": ""]]

  private func reason(_ work: () async throws(SDKError) -> Void) async -> Reason? {
    do throws(SDKError) {
      try await work()
      return nil
    } catch {
      return error.reason
    }
  }

  /// Runs a connection while `test` runs, and returns how it ended.
  private func running(
    _ connection: EdnaConnection, news: @escaping @Sendable (RealtimeNews) -> Void = { _ in },
    _ test: () async throws -> Void
  ) async throws -> RealtimeEnd {
    async let end = connection.run { news($0) }
    try await test()
    return await end
  }

  @Test func `An acknowledgement finds its request, before the connection runs and while it does`() async throws {
    let socket = FakeSocket { FakeSocket.acknowledgement(of: $0, data: ["n": $0["correlationId"] ?? .null]) }
    let connection = EdnaConnection(socket, timeout: 5)
    for _ in 0..<2 {
      let answer = try await connection.perform(Self.request)
      #expect(answer["n"] == socket.sent.last?["correlationId"])
    }
    let end = try await running(connection) {
      try await withThrowingTaskGroup(of: JSONObject.self) { group in
        for _ in 0..<8 { group.addTask { try await connection.perform(Self.request) } }
        var seen: Set<String> = []
        for try await answer in group { seen.insert(answer["n"]?.stringValue ?? "") }
        #expect(seen.count == 8)
      }
      socket.endInOrder()
    }
    guard case .lost = end else { return #expect(Bool(false), "\(end)") }
  }

  @Test("An acknowledgement may come without data", arguments: ["", #","data":null"#])
  func bareAcknowledgement(data: String) async throws {
    let socket = FakeSocket { frame in
      let id = frame["correlationId"].map(JSONWriter.text(of:)) ?? "null"
      return #"{"action":"updateDevice","correlationId":\#(id)\#(data)}"#
    }
    #expect(try await EdnaConnection(socket, timeout: 5).perform(Self.request) == [:])
  }

  @Test func `Requests that come together before it runs are all answered`() async throws {
    let connection = EdnaConnection(FakeSocket(), timeout: 5)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { _ = try await connection.perform(Self.request) } }
      try await group.waitForAll()
    }
  }

  @Test func `Without an acknowledgement the request ends in time and the connection lives on`() async throws {
    let silent = Mutex(true)
    let socket = FakeSocket { frame in
      silent.withLock { isSilent in
        defer { isSilent = false }
        return isSilent ? nil : FakeSocket.acknowledgement(of: frame)
      }
    }
    let connection = EdnaConnection(socket, timeout: 0.05)
    #expect(await reason { () throws(SDKError) in _ = try await connection.perform(Self.request) } == .timeout)
    _ = try await connection.perform(Self.request, within: 5)
  }

  @Test(arguments: ["expired", "invalid"])
  func `UNAUTHORIZED unasked ends the run as a refusal of the credentials`(details: String) async throws {
    let socket = FakeSocket()
    let connection = EdnaConnection(socket, timeout: 5)
    let end = try await running(connection) {
      socket.push(#"{"action":"getMessages","data":{"error":"UNAUTHORIZED","errorDetails":"\#(details)"}}"#)
    }
    guard case .refused(let error) = end else { return #expect(Bool(false), "\(end)") }
    #expect(error.reason == .invalidAuth)
    #expect(error.vendorCode == "UNAUTHORIZED")
    #expect(error.vendorDescription?.text == details)
    #expect(await reason { () throws(SDKError) in _ = try await connection.perform(Self.request) } == .invalidAuth)
  }

  @Test func `What else comes unasked is passed over`() async throws {
    let socket = FakeSocket()
    let connection = EdnaConnection(socket, timeout: 5)
    let connected = Mutex(0)
    _ = try await running(connection, news: { _ in connected.withLock { $0 += 1 } }) {
      for text in [
        "", "nonsense", "[]", "{}", #"{"data":[]}"#, #"{"action":"getStatuses","data":{"statuses":[]}}"#,
        #"{"correlationId":"of nobody","data":{}}"#, #"{"action":"x","data":{"error":"NEW","errorDetails":{}}}"#,
      ] {
        socket.push(text)
      }
      _ = try await connection.perform(Self.request)
      socket.endInOrder()
    }
    #expect(connected.withLock { $0 } == 1)
  }

  @Test func `A refused request fails with what the vendor says`() async throws {
    for (code, expected) in [
      ("UNAUTHORIZED", Reason.invalidAuth), ("FORBIDDEN", .forbidden), ("INTERNAL_ERROR", .serverError),
      ("BAD_REQUEST", .badResponse),
    ] {
      let socket = FakeSocket { FakeSocket.acknowledgement(of: $0, data: ["error": .string(code)]) }
      let connection = EdnaConnection(socket, timeout: 5)
      #expect(await reason { () throws(SDKError) in _ = try await connection.perform(Self.request) } == expected)
    }
  }

  @Test("A refusal repeats no secret of a frame that was sent, nor of an earlier one", arguments: [false, true])
  func repeated(isLater: Bool) async throws {
    let secrets = ["user-of-the-frame", "address-of-the-device", "push-address-4711-x"]
    let socket = FakeSocket { frame in
      if isLater, frame["action"] != "getMessages" { return FakeSocket.acknowledgement(of: frame) }
      let words: JSON = .string("moonlight " + secrets.joined(separator: " "))
      return FakeSocket.acknowledgement(of: frame, data: ["error": "UNAUTHORIZED", "errorDetails": words])
    }
    let connection = EdnaConnection(socket, timeout: 5)
    let message: JSON = ["content": ["clientId": .string(secrets[0])], "deviceAddress": .string(secrets[1])]
    let update: JSON = ["clientId": .string(secrets[0]), "pnsPushAddress": .string(secrets[2])]
    var said: [String] = []
    let frames: [JSONObject] = [
      ["action": "sendMessage", "data": message], ["action": "updateDevice", "data": update], Self.request,
      ["action": "getMessages"],
    ]
    for frame in frames {
      do throws(SDKError) {
        _ = try await connection.perform(frame)
      } catch {
        said.append(JSONWriter.text(of: error.rpcError.json))
      }
    }
    #expect(said.last?.contains("moonlight") == true)
    let own = isLater ? said.joined() : said[0]
    for secret in secrets.prefix(isLater ? 3 : 2) { #expect(!own.contains(secret), "\(own)") }
  }

  @Test func `Closing ends the run and whoever waits`() async throws {
    let socket = FakeSocket { _ in nil }
    let connection = EdnaConnection(socket, timeout: 5)
    let end = try await running(connection) {
      async let failure = reason { () throws(SDKError) in _ = try await connection.perform(Self.request) }
      while socket.sent.isEmpty { await Task.yield() }
      await connection.close()
      #expect(await failure == .network)
    }
    #expect(end == .ended)
    #expect(socket.isClosed)
  }
}
