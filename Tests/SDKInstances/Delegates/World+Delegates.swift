import DelegateBridge
import JSONRPC
import SDKProtocol

@testable import SDKInstances

extension World {
  /// Attaches a new connection to an instance. It responds with a token that is its name, or with `answer`. Each
  /// request adds the name to `asked`.
  func delegate(
    _ name: String, _ asked: Records<String>, to instance: String = "desk", uid: UInt32 = 0,
    answer: Result<JSON, PeerRequestError>? = nil
  ) async -> ClientSession {
    let link = FakeLink(uid: uid)
    link.answer { _, _ throws(PeerRequestError) in
      asked.add(name)
      return try (answer ?? .success(["token": .string(name)])).get()
    }
    let session = ClientSession(link: link)
    await attach(session, to: instance)
    return session
  }

  /// Attaches a new connection to `desk` as far as its reply. It gets no question until the returned call is answered,
  /// and responds with a token that is its name.
  func attaching(_ name: String) async throws -> any AcceptedCall {
    let link = FakeLink()
    link.answer { _, _ in ["token": .string(name)] }
    let acceptance = accept("delegate.attach", ["instances": ["desk"]], on: ClientSession(link: link))
    guard case .run(let call) = acceptance else { throw CancellationError() }
    _ = try await call.run().get()
    return call
  }

  func attach(_ session: ClientSession, to instance: String = "desk", timeout: JSON? = nil) async {
    var params: JSONObject = ["instances": [.string(instance)]]
    params["timeout"] = timeout
    _ = await call("delegate.attach", .object(params), on: session)
  }

  func question(_ instance: HostedInstance) -> BridgeQuestion {
    BridgeQuestion(.getToken, instance: instance.id, kind: instance.kind, deadline: clock.now + 60)
  }

  func ask(_ instance: HostedInstance, waits: Bool = false) async throws -> BridgeAnswer? {
    try await ask(question(instance), instance, waits: waits)
  }

  func ask(_ question: BridgeQuestion, _ instance: HostedInstance, waits: Bool = false) async throws -> BridgeAnswer? {
    try await delegates.answer(question, of: instance.actor.bridgeKey(nil), waits: waits)
  }
}
