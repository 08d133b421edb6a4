import Glibc
import JSONRPC
import Linux
import Testing

@testable import JSONRPCTransport

struct ClientConnectionTests {
  @Test func manyCallsAtOnce() async throws {
    try await withServer { server in
      let client = try await server.client()
      #expect(client.serverUid == getuid())
      try await withThrowingTaskGroup { group in
        for number in 0..<500 {
          group.addTask {
            let answer = try await client.call(method: "echo", params: ["n": JSON(number)])
            #expect(answer == ["n": JSON(number)])
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test func bigTextsBothWays() async throws {
    try await withServer { server in
      let client = try await server.client()
      let text = JSON(String(repeating: "é", count: 400_000))
      try await withThrowingTaskGroup { group in
        for _ in 0..<8 {
          group.addTask {
            let answer = try await client.call(method: "echo", params: ["t": text])
            #expect(answer["t"] == text)
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test func errorsOfTheDaemonPassAsTheyAre() async throws {
    try await withServer { server in
      let client = try await server.client()
      await #expect(throws: RPCError.methodNotFound("x", nearest: nil)) { try await client.call(method: "x") }
    }
  }

  @Test func saysThatNobodyListens() async throws {
    let directory = try TestDirectory()
    let path = directory("none")
    for path in [path, String(repeating: "x", count: 200), ""] {
      await #expect(throws: ClientConnectionError.notRunning(path: path)) {
        try await ClientConnection.connect(path: path)
      }
    }
  }

  @Test func aFullQueueIsTriedAgain() async throws {
    let directory = try TestDirectory()
    let (server, path) = try listen(in: directory, backlog: 0)
    defer { close(server) }
    let first = try await ClientConnection.connect(path: path)
    await #expect(throws: ClientConnectionError.timeout) {
      try await ClientConnection.connect(path: path, settings: ClientSettings(connectTimeout: .milliseconds(20)))
    }
    async let second = ClientConnection.connect(path: path)
    let peer = accept(server, nil, nil)
    defer { close(peer) }
    #expect(try await !second.isClosed)
    #expect(!first.isClosed)
  }

  @Test func aCancelledCallIsTakenBack() async throws {
    try await withServer { server in
      let client = try await server.client()
      let caller = Task { try await client.call(method: "slow") }
      try await waitUntil("it runs") { server.program.gate.count == 1 }
      caller.cancel()
      await #expect(throws: CancellationError.self) { try await caller.value }
      try await waitUntil("the server has cancelled it") { server.program.seen.cancelled == 1 }
      #expect(try await client.call(method: "echo") == [:])
    }
  }

  @Test func aCallThatIsCancelledBeforeItBeginsIsNotSent() async throws {
    try await withServer { server in
      let client = try await server.client()
      let caller = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await client.call(method: "slow")
      }
      await #expect(throws: CancellationError.self) { try await caller.value }
      #expect(try await client.call(method: "echo") == [:])
      #expect(server.program.seen.accepted == ["echo"])
    }
  }

  @Test func aCallOverTimeIsTakenBack() async throws {
    try await withServer { server in
      let client = try await server.client()
      await #expect(throws: ClientConnectionError.timeout) {
        try await client.call(method: "slow", timeout: .milliseconds(20))
      }
      try await waitUntil("the server has cancelled it") { server.program.seen.cancelled == 1 }
    }
  }

  @Test func theEndOfTheConnectionEndsCallsAndNotifications() async throws {
    try await withServer { server in
      let client = try await server.client()
      let caller = Task { try await client.call(method: "slow") }
      try await waitUntil("it runs") { server.program.gate.count == 1 }
      try #require(server.program.seen.connections.first).close()
      await #expect(throws: ClientConnectionError.closed) { try await caller.value }
      for try await _ in client.notifications {}
      await client.closed()
      #expect(client.isClosed)
      await #expect(throws: ClientConnectionError.notSent) { try await client.call(method: "echo") }
    }
  }

  @Test func closingEndsCallsAndTheServersSide() async throws {
    try await withServer { server in
      let client = try await server.client()
      let caller = Task { try await client.call(method: "slow") }
      try await waitUntil("it runs") { server.program.gate.count == 1 }
      client.close()
      await #expect(throws: ClientConnectionError.closed) { try await caller.value }
      try await waitUntil("closed") { server.program.seen.closed == 1 }
    }
  }

  @Test func goingOutOfScopeEndsTheConnection() async throws {
    try await withServer { server in
      do {
        let client = try await server.client()
        _ = try await client.call(method: "echo")
      }
      try await waitUntil("closed") { server.program.seen.closed == 1 }
    }
  }

  @Test func notificationsComeInOrder() async throws {
    try await withServer { server in
      let client = try await server.client()
      _ = try await client.call(method: "echo")
      let connection = try #require(server.program.seen.connections.first)
      for number in 0..<1000 { connection.notify(method: "event", params: ["n": JSON(number)]) }
      var next = 0
      for try await notification in client.notifications {
        #expect(notification == ServerNotification(method: "event", params: ["n": JSON(next)]))
        next += 1
        if next == 1000 { break }
      }
    }
  }

  @Test func notificationsThatNobodyTakesEndTheConnection() async throws {
    try await withServer { server in
      let client = try await server.client(ClientSettings(maxNotifications: 10))
      _ = try await client.call(method: "echo")
      let connection = try #require(server.program.seen.connections.first)
      for number in 0..<11 { connection.notify(method: "event", params: ["n": JSON(number)]) }
      await client.closed()
      var count = 0
      await #expect(throws: ClientConnectionError.overflow) { for try await _ in client.notifications { count += 1 } }
      #expect(count == 10)
    }
  }

  @Test func answersTheDaemonsQuestions() async throws {
    try await withServer { server in
      let client = try await server.client { method, params throws(RPCError) in
        guard params == ["why": true] else { throw .invalidParams("No.") }
        return .string(method)
      }
      #expect(try await client.call(method: "ask") == "question")
    }
  }

  @Test func withoutAHandlerQuestionsAreRefused() async throws {
    try await withServer { server in
      let client = try await server.client()
      let answer = try await client.call(method: "ask").stringValue ?? ""
      #expect(answer.contains("-32601"))
    }
  }

  @Test func aQuestionThatIsTakenBackCancelsItsTask() async throws {
    let gate = Gate()
    try await withServer { server in
      let client = try await server.client { _, _ throws(RPCError) in
        await gate.wait()
        return .bool(Task.isCancelled)
      }
      #expect(try await client.call(method: "ask", params: ["ms": 30]) == "timedOut")
      try await waitUntil("the task has gone") { gate.count == 0 }
      client.close()
      await client.closed()
    }
  }

  @Test func aServerThatTalksNonsenseIsLeft() async throws {
    try await withPeer { client, peer in
      send("nonsense\n", to: peer)
      await client.closed()
      await #expect(throws: ClientConnectionError.self) { for try await _ in client.notifications {} }
    }
  }

  @Test("An error without an id fails the only call, and the connection is not used again")
  func anErrorWithoutAnIDIsOfTheOnlyCall() async throws {
    try await withPeer { client, peer in
      let refused = Task { try await client.call(method: "slow") }
      try await receive(from: peer)
      send(Self.errorWithoutID, to: peer)
      await #expect(throws: RPCError.self) { try await refused.value }
      await client.closed()
      await #expect(throws: ClientConnectionError.notSent) { try await client.call(method: "slow") }
    }
  }

  @Test("An error without an id ends the connection before its call throws, so that the next call is not sent on it")
  func anErrorWithoutAnIDEndsTheConnectionFirst() async throws {
    var pair: [CInt] = [-1, -1]
    #expect(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &pair) == 0)
    defer { close(pair[1]) }
    let notifications = AsyncThrowingStream.makeStream(of: ServerNotification.self).continuation
    let wire = try ClientWire(descriptor: pair[0], maxLineBytes: 4096, notifications: notifications, onRequest: nil)
    defer { wire.close() }
    let refused = Task { try await wire.call(method: "slow", params: nil, timeout: nil) }
    try await receive(from: pair[1])
    // Handled here and not by the connection's thread, which would end the connection a moment later.
    #expect(wire.receive(Array(Self.errorWithoutID.utf8)[...]) == .closed)
    await #expect(throws: RPCError.self) { try await refused.value }
    #expect(wire.isClosed)
    await #expect(throws: ClientConnectionError.notSent) {
      try await wire.call(method: "slow", params: nil, timeout: .seconds(1))
    }
  }

  @Test("After an error without an id that can concern several calls, they go on, and no further call is sent")
  func anErrorWithoutAnIDOfOneOfSeveralCalls() async throws {
    try await withPeer { client, peer in
      let first = Task { try await client.call(method: "slow") }
      try await receive(from: peer)
      let second = Task { try await client.call(method: "slow") }
      try await receive(from: peer)
      send(Self.errorWithoutID + #"{"jsonrpc":"2.0","id":2,"result":2}"# + "\n", to: peer)
      #expect(try await second.value == 2)
      #expect(!client.takesCalls && !client.isClosed)
      await #expect(throws: ClientConnectionError.notSent) {
        try await client.call(method: "slow", timeout: .seconds(1))
      }
      send(#"{"jsonrpc":"2.0","id":1,"result":1}"# + "\n", to: peer)
      #expect(try await first.value == 1)
    }
  }

  @Test("The first call on a connection that was refused gets the reason")
  func theFirstCallGetsTheReason() async throws {
    try await withPeer { client, peer in
      send(Self.errorWithoutID, to: peer)
      try await waitUntil("the error has come") { !client.takesCalls }
      await #expect(throws: RPCError.self) { try await client.call(method: "slow", timeout: .seconds(1)) }
      await #expect(throws: ClientConnectionError.notSent) {
        try await client.call(method: "slow", timeout: .seconds(1))
      }
    }
  }

  @Test("An error without an id for a call that has timed out fails no later call")
  func anErrorWithoutAnIDOfAnAbandonedCall() async throws {
    try await withPeer { client, peer in
      await #expect(throws: ClientConnectionError.timeout) {
        try await client.call(method: "slow", timeout: .milliseconds(50))
      }
      send(Self.errorWithoutID, to: peer)
      await client.closed()
      await #expect(throws: ClientConnectionError.notSent) { try await client.call(method: "slow") }
    }
  }

  @Test("A response that is cut by the end of the connection means only that the connection has closed")
  func aCutLineIsTheEnd() async throws {
    try await withPeer { client, peer in
      let caller = Task { try await client.call(method: "slow") }
      try await receive(from: peer)
      send(#"{"jsonrpc":"2.0","id":1,"res"#, to: peer)
      shutdown(peer, CInt(SHUT_RDWR))
      await #expect(throws: ClientConnectionError.closed) { try await caller.value }
    }
  }

  private static let errorWithoutID =
    #"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"too deep"}}"# + "\n"

  /// Runs `body` with a client and the descriptor of its server's side.
  private func withPeer(_ body: (ClientConnection, _ peer: CInt) async throws -> Void) async throws {
    let directory = try TestDirectory()
    let (server, path) = try listen(in: directory, backlog: 1)
    defer { close(server) }
    let client = try await ClientConnection.connect(path: path)
    let peer = accept(server, nil, nil)
    defer { close(peer) }
    try await body(client, peer)
  }

  private func send(_ text: String, to peer: CInt) {
    #expect(write(peer, text, text.utf8.count) == text.utf8.count)
  }

  /// Waits for the next bytes from a client. A blocking read would take the thread that the client's task needs.
  private func receive(from peer: CInt) async throws {
    try await waitUntil("a request has come") {
      var request = [UInt8](repeating: 0, count: 4096)
      return recv(peer, &request, request.count, CInt(MSG_DONTWAIT)) > 0
    }
  }

  /// Makes a listening socket that neither accepts nor responds by itself.
  private func listen(in directory: TestDirectory, backlog: CInt) throws -> (descriptor: CInt, path: String) {
    let path = directory("s")
    let address = try #require(UnixAddress(path: path))
    let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    #expect(address.withPointer { bind(descriptor, $0, $1) } == 0 && Glibc.listen(descriptor, backlog) == 0)
    return (descriptor, path)
  }
}
