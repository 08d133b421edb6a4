import Glibc
import JSONRPC
import JSONRPCTransport
import NIOPosix
import SDKClient
import SDKProtocol
import Synchronization
import Testing

@Suite struct DelegateTests {
  private let directory: TestDirectory
  private let desk: InstanceID

  init() throws {
    directory = try TestDirectory()
    desk = try #require(InstanceID("desk"))
  }

  private static let question: JSON = [
    "version": 1, "question": "getToken", "instance": "desk", "kind": "zendesk.messaging", "attempt": 1,
    "user": ["externalId": "alice"], "error": nil, "deadline": "2026-11-21T11:09:00.250Z",
  ]

  private func serve(
    _ answering: @escaping SDKClient.DelegateHandler,
    _ body: (Connection, TestDaemon, DelegateAttachment) async throws -> Void
  ) async throws {
    let daemon = TestDaemon { _, _ in .answer([:]) }
    try await daemon.serve(at: directory.socket) { daemon in
      let client = SDKClient(socket: .path(directory.socket))
      let attachment = try await client.attach(to: [desk], timeout: Seconds(2), answering: answering)
      try await body(try #require(daemon.connections.first), daemon, attachment)
    }
  }

  @Test func `The question comes typed, and so goes the answer`() async throws {
    let seen = Mutex<DelegateQuestion?>(nil)
    try await serve { question in
      seen.withLock { $0 = question }
      return .token(Secret("t-1"))
    } _: { connection, daemon, _ in
      let result = try await connection.request(
        method: "delegate.getToken", params: Self.question, timeout: .seconds(20))
      #expect(result == ["token": "t-1"])
      #expect(daemon.requests.map(\.method) == ["delegate.attach"])
      #expect(daemon.requests.first?.params == ["instances": ["desk"], "timeout": 2])
    }
    let question = try #require(seen.withLock { $0 })
    #expect(question.question == .getToken)
    #expect(question.user?.externalId == "alice")
    #expect(question.error == nil)
  }

  private static let answers: [(DelegateAnswer, JSON)] = [
    (.uniqueId(Secret("u")), ["uniqueId": "u"]), (.pass, ["defer": true]),
    (.authenticate(false), ["authenticate": false]),
    (.authenticate(true, settings: ["accessToken": "a"]), ["authenticate": true, "settings": ["accessToken": "a"]]),
    (.proceed(true), ["proceed": true]),
  ]

  @Test(arguments: answers) func `Answers have the members of the contract`(answer: DelegateAnswer, json: JSON)
    async throws
  {
    try await serve { _ in
      answer
    } _: { connection, _, _ in
      let result = try await connection.request(
        method: "delegate.getToken", params: Self.question, timeout: .seconds(20))
      #expect(result == json)
    }
  }

  @Test func `A denial is the contract's, any other error says nothing of itself`() async throws {
    struct Odd: Error {}
    for (error, reason) in [(DelegateDenial() as any Error, "providerDenied"), (Odd(), "providerFailed")] {
      try await serve { _ in
        throw error
      } _: { connection, _, _ in
        await #expect {
          _ = try await connection.request(
            method: "delegate.invalidAuth", params: Self.question, timeout: .seconds(20))
        } throws: {
          guard case PeerRequestError.refused(let refusal)? = $0 as? PeerRequestError else { return false }
          return refusal.code == -32040 && refusal.reason == reason
        }
      }
    }
  }

  @Test func `A refused attach is the daemon's error`() async throws {
    let daemon = TestDaemon { _, _ in .refuse(Samples.accessDenied) }
    try await daemon.serve(at: directory.socket) { _ in
      let client = SDKClient(socket: .path(directory.socket))
      await #expect(throws: SDKClientError.rpc(Samples.accessDenied)) {
        _ = try await client.attach(to: [desk]) { _ in .pass }
      }
    }
  }

  @Test func `Detaching says so before the connection ends`() async throws {
    try await serve { _ in
      .pass
    } _: { connection, daemon, attachment in
      #expect(attachment.status == .attached)
      try await attachment.detach()
      #expect(daemon.methods == ["delegate.attach", "delegate.detach"])
      await connection.closed()
      var statuses: [DelegateStatus] = []
      for await status in attachment.statuses { statuses.append(status) }
      #expect(statuses == [.attached, .ended(nil)])
    }
  }

  @Test("Detaching during a new attach says so behind it, whatever the answer", arguments: [false, true])
  func detachesWhileAttaching(isRefused: Bool) async throws {
    let pause = Gate()
    let client = SDKClient(
      socket: .path(directory.socket), options: ClientOptions(sleep: { _ in await pause.wait() }))
    let first = TestDaemon { _, _ in .answer([:]) }
    var attachment: DelegateAttachment?
    try await first.serve(at: directory.socket) { _ in
      attachment = try await client.attach(to: [desk]) { _ in .pass }
    }
    let kept = try #require(attachment)
    let gate = Gate()
    let next = TestDaemon { request, _ in
      guard request.method == DelegateAttach.name else { return .answer([:]) }
      return .run(Held(gate: gate, refusal: isRefused ? Samples.accessDenied : nil))
    }
    try await next.serve(at: directory.socket) { daemon in
      pause.open()
      try await waitUntil("it attaches again") { daemon.methods == ["delegate.attach"] }
      async let detached: Void = kept.detach()
      try await waitUntil("it is detached") { daemon.methods == ["delegate.attach", "delegate.detach"] }
      gate.open()
      try await detached
      for connection in daemon.connections { await connection.closed() }
      #expect(daemon.methods == ["delegate.attach", "delegate.detach"])
    }
    #expect(kept.status == .ended(nil))
  }

  /// A call that is answered when the gate opens.
  private final class Held: AcceptedCall {
    let gate: Gate
    let refusal: RPCError?

    init(gate: Gate, refusal: RPCError?) {
      self.gate = gate
      self.refusal = refusal
    }

    func run() async -> Result<[UInt8], RPCError> {
      await gate.wait()
      return refusal.map { .failure($0) } ?? .success(JSONWriter.bytes(of: [:]))
    }

    func abandon() {}
  }

  @Test func `An attachment that goes away ends its connection`() async throws {
    let daemon = TestDaemon { _, _ in .answer([:]) }
    try await daemon.serve(at: directory.socket) { daemon in
      let client = SDKClient(socket: .path(directory.socket))
      var attachment: DelegateAttachment? = try await client.attach(to: [desk]) { _ in .pass }
      #expect(attachment?.status == .attached)
      attachment = nil
      try await waitUntil("it has gone") { daemon.connections.allSatisfy(\.isClosed) }
    }
  }

  @Test func `A lost connection is attached again, and that is told`() async throws {
    let pause = Gate()
    let client = SDKClient(
      socket: .path(directory.socket), options: ClientOptions(sleep: { _ in await pause.wait() }))
    let daemon = TestDaemon { _, _ in .answer([:]) }
    var attachment: DelegateAttachment?
    try await daemon.serve(at: directory.socket) { _ in
      attachment = try await client.attach(to: [desk]) { _ in .token(Secret("t-2")) }
    }
    let kept = try #require(attachment)
    let first = await firstElement(of: kept.statuses)
    let second = await firstElement(of: kept.statuses)
    #expect(first == .attached)
    #expect(second == .detached(.closed))
    let next = TestDaemon { _, _ in .answer([:]) }
    try await next.serve(at: directory.socket) { daemon in
      pause.open()
      let third = await firstElement(of: kept.statuses)
      #expect(third == .attached)
      let result = try await #require(daemon.connections.last).request(
        method: "delegate.getToken", params: Self.question, timeout: .seconds(20))
      #expect(result == ["token": "t-2"])
      #expect(daemon.requests.map(\.params) == [["instances": ["desk"]]])
      try await kept.detach()
    }
  }

  @Test func `Whoever is refused for good is told, and asks no more`() async throws {
    let seen = Mutex(0)
    let daemon = TestDaemon { _, connection in
      let number = seen.withLock { seen in
        seen += 1
        return seen
      }
      guard number == 1 else { return .refuse(Samples.accessDenied) }
      return .answer([:])
    }
    try await daemon.serve(at: directory.socket) { daemon in
      let client = SDKClient(socket: .path(directory.socket), options: ClientOptions(sleep: { _ in }))
      let attachment = try await client.attach(to: [desk]) { _ in .pass }
      daemon.connections.first?.close()
      var last: DelegateStatus?
      for await status in attachment.statuses { last = status }
      #expect(last == .ended(.rpc(Samples.accessDenied)))
      #expect(daemon.requests.count == 2)
    }
  }

  @Test func `A server that is not trusted is answered nothing`() async throws {
    let (answers, note) = AsyncStream.makeStream(of: Bool.self)
    let listener = try Listener.bind(path: directory.socket, mode: 0o600)
    try await withThrowingTaskGroup { group in
      group.addTask {
        try await listener.run(on: MultiThreadedEventLoopGroup.singleton) { connection in
          Curious(connection: connection, note: note)
        }
      }
      let options = ClientOptions(
        trust: ServerTrust { _ in
          // Lets the question arrive before the server is judged.
          usleep(50_000)
          return false
        })
      let client = SDKClient(socket: .path(directory.socket), options: options)
      let error = await #expect(throws: SDKClientError.self) {
        _ = try await client.attach(to: [desk]) { _ in .token(Secret("s3cret")) }
      }
      #expect(error?.reason == "untrustedServer")
      let hasAnswer = await firstElement(of: answers)
      #expect(hasAnswer == false)
      listener.drain(grace: .zero)
      try await group.waitForAll()
    }
  }

  private func firstElement<Element: Sendable>(of stream: AsyncStream<Element>) async -> Element? {
    for await element in stream { return element }
    return nil
  }

  /// A server that sends a question to each client at once, and records whether a response came.
  private final class Curious: ConnectionHandler {
    init(connection: Connection, note: AsyncStream<Bool>.Continuation) {
      Task {
        let answer = try? await connection.request(
          method: "delegate.getToken", params: DelegateTests.question, timeout: .seconds(20))
        note.yield(answer != nil)
      }
    }

    func accept(_ request: RPCRequest) -> Acceptance { .answer([:]) }
    func receive(notification: RPCRequest) -> (any AcceptedCall)? { nil }
    func closed() {}
  }
}
