import SDKProtocol

@testable import JSONRPC
@testable import SDKInstances

/// Helpers that make calls as a connection does.
extension World {
  func session(uid: UInt32 = 0, unit: String? = nil) -> ClientSession {
    ClientSession(link: FakeLink(uid: uid, unit: unit))
  }

  func accept(_ method: String, _ params: JSON?, on session: ClientSession) -> Acceptance {
    gateway.accept(RPCRequest(id: .null, method: method, params: params), session: session)
  }

  /// Makes a call, runs it to its end and returns its response.
  func call(_ method: String, _ params: JSON? = nil, on session: ClientSession) async -> Result<JSON, RPCError> {
    await Self.finish(accept(method, params, on: session))
  }

  static func finish(_ admission: Acceptance) async -> Result<JSON, RPCError> {
    switch admission {
    case .reply(let result): return read(result)
    case .run(let call):
      let result = await call.run()
      await (call as? PendingCall)?.followUp()
      return read(result)
    }
  }

  private static func read(_ result: Result<[UInt8], RPCError>) -> Result<JSON, RPCError> {
    result.map { (try? JSONParser.parse($0)) ?? "no JSON" }
  }
}

extension Result where Success == JSON, Failure == RPCError {
  var value: JSON? { try? get() }
  var error: RPCError? { if case .failure(let error) = self { error } else { nil } }
  var reason: String? { error?.reason }
}

extension Acceptance {
  var isImmediate: Bool { if case .reply = self { true } else { false } }
}
