import JSONRPC
import JSONRPCTransport
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

  @Test func `Detaching says so before the connection ends, and a lost connection is noticed`() async throws {
    try await serve { _ in
      .pass
    } _: { connection, daemon, attachment in
      try await attachment.detach()
      #expect(daemon.methods == ["delegate.attach", "delegate.detach"])
      try await attachment.ended()
      await connection.closed()
    }
  }
}
