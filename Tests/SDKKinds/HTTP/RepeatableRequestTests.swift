import JSONRPC
import SDKProtocol
import Synchronization
import Testing

@testable import SDKInstances
@testable import SDKKinds

/// Which requests of a kind are sent once more when their connection ends without a response. Each kind has its test in its
/// folder.
struct RepeatableRequestTests {
  /// A vendor that can't be reached, and that records each request.
  final class Recorder: HTTPSending {
    private let requests = Mutex<[String: Set<Bool>]>([:])

    /// The requests' methods and paths, and whether they may be repeated.
    var seen: [String: Set<Bool>] { requests.withLock { $0 } }

    func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts {
      let path = request.url.replacing("https://own.test", with: "").prefix { $0 != "?" }
      requests.withLock { _ = $0["\(request.method) \(path)", default: []].insert(request.isRepeatable) }
      throw .network("nobody is there")
    }
  }

  private struct NoSockets: SocketOpening {
    func open(_ request: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket { throw .timeout }
  }

  private static let now = Timestamp(secondsSince1970: 1_800_000_000)

  let recorder = Recorder()

  func adapter<Adapter>(_ kind: any SDKKind, _ settings: JSONObject) throws -> Adapter {
    let made = try kind.makeAdapter(
      settings: settings,
      services: AdapterServices(
        instance: "i-1", clock: WallClock(now: { Self.now }, random: { 0.5 }), http: recorder, sockets: NoSockets(),
        supplied: SuppliedURLRule(domains: ["own.test"], ownURLs: [])))
    return try #require(made as? Adapter)
  }

  static func record(_ type: Token.TokenType, kindState: [String: Secret] = [:]) -> IdentityRecord {
    IdentityRecord(
      phase: .authenticated,
      user: User(id: "u1", externalId: "alice", authenticationType: .jwt, authenticated: true, verified: true),
      credential: credential(type), kindState: kindState)
  }

  static func credential(_ type: Token.TokenType) -> Credential {
    Credential(token: Secret("t-1"), type: type, obtainedAt: now, expiresAt: nil)
  }

  static let push = PushRecord(
    id: "p1", service: nil, address: Secret("a-1"), type: "fcm", locale: nil, vendorId: "d1",
    user: User(id: "u1", authenticationType: .jwt, authenticated: true, verified: true), subject: nil, createdAt: now)

  /// Compares the recorded requests with those that may be repeated and those that may not.
  func check(repeatable: Set<String>, once: Set<String>) {
    var expected: [String: Set<Bool>] = [:]
    for request in repeatable { expected[request] = [true] }
    for request in once { expected[request] = [false] }
    #expect(recorder.seen == expected)
  }
}
