import JSONRPC
import SDKInstances
import SDKProtocol
import Synchronization
import Testing

@testable import SDKKinds

/// Which requests of each kind are sent once more when their connection ends without a response.
struct RepeatableRequestTests {
  /// A vendor that can't be reached, and that records each request.
  private final class Recorder: HTTPSending {
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

  private let recorder = Recorder()

  private func adapter<Adapter>(_ kind: any SDKKind, _ settings: JSONObject) throws -> Adapter {
    let made = try kind.makeAdapter(
      settings: settings,
      services: AdapterServices(
        instance: "i-1", clock: WallClock(now: { Self.now }, random: { 0.5 }), http: recorder, sockets: NoSockets(),
        supplied: SuppliedURLRule(domains: ["own.test"], ownURLs: [])))
    return try #require(made as? Adapter)
  }

  private static func record(_ type: Token.TokenType, kindState: [String: Secret] = [:]) -> IdentityRecord {
    IdentityRecord(
      phase: .authenticated,
      user: User(id: "u1", externalId: "alice", authenticationType: .jwt, authenticated: true, verified: true),
      credential: credential(type), kindState: kindState)
  }

  private static func credential(_ type: Token.TokenType) -> Credential {
    Credential(token: Secret("t-1"), type: type, obtainedAt: now, expiresAt: nil)
  }

  private static let push = PushRecord(
    id: "p1", service: nil, address: Secret("a-1"), type: "fcm", locale: nil, vendorId: "d1",
    user: User(id: "u1", authenticationType: .jwt, authenticated: true, verified: true), subject: nil, createdAt: now)

  /// Compares the recorded requests with those that may be repeated and those that may not.
  private func check(repeatable: Set<String>, once: Set<String>) {
    var expected: [String: Set<Bool>] = [:]
    for request in repeatable { expected[request] = [true] }
    for request in once { expected[request] = [false] }
    #expect(recorder.seen == expected)
  }

  @Test("Messaging repeats reads and logins, which give the same user again")
  func messaging() async throws {
    let adapter: MessagingAdapter = try adapter(
      ZendeskMessaging(), ["base_url": "https://own.test", "app_id": "a"])
    let alice = Self.record(.jwt)
    let offered = CheckedCredential(credential: Self.credential(.jwt), externalId: "alice")
    _ = try? await adapter.signIn(offered, from: .nobody(.noUser))
    _ = try? await adapter.renew(with: offered, of: alice)
    _ = try? await adapter.makeAnonymousUser(from: .nobody(.noUser))
    _ = try? await adapter.signOut(Self.credential(.jwt), of: alice, on: nil)
    _ = try? await adapter.register(Self.push, of: alice, on: nil)
    check(
      repeatable: ["POST /v2/apps/a/login", "GET /v2/apps/a/appusers/u1"],
      once: [
        "POST /v2/apps/a/appusers", "POST /v2/apps/a/appusers/u1/logout", "PUT /v2/apps/a/appusers/u1/clients/i1",
      ])
  }

  @Test("Support repeats reads and exchanges, which name the user by guid or unique id")
  func support() async throws {
    let base: JSONObject = ["base_url": "https://own.test", "app_id": "a", "client_id": "c"]
    let adapter: SupportAdapter = try adapter(ZendeskSupport(), base)
    for identity in [SupportIdentity.anonymous(), .unique(Secret("alice-unique-id-00"))] {
      let type: JSONObject = ["authentication": .string(identity.type.rawValue)]
      let typed: SupportAdapter = try self.adapter(ZendeskSupport(), base.merged(with: type))
      _ = try? await typed.signIn(try typed.offered(identity), from: .nobody(.noUser))
    }
    _ = try? await adapter.signIn(try adapter.offered(.anonymous()), from: .nobody(.noUser))
    let alice = Self.record(.accessToken, kindState: SupportIdentity.anonymous().state(guid: Secret("guid-1")))
    _ = try? await adapter.probe(Self.credential(.accessToken), of: alice)
    _ = try? await adapter.register(Self.push, of: alice, on: nil)
    _ = try? await adapter.unregister(Self.push, of: alice, on: nil)
    let devices = "/api/mobile/push_notification_devices"
    check(
      repeatable: [
        "POST /access/sdk/jwt", "POST /access/sdk/anonymous", "GET /api/mobile/users/me.json",
        "GET /api/private/mobile_sdk/settings/a.json",
      ], once: ["POST \(devices).json", "DELETE \(devices)/d1.json"])
  }

  @Test("Salesforce repeats reads only: a refresh may spend the refresh token")
  func salesforce() async throws {
    let adapter: SalesforceAdapter = try adapter(
      SalesforceChat(), ["client_id": "c", "login_url": "https://own.test", "services": ["chat"]])
    let (wire, token) = (adapter.wire, Secret("t-1"))
    let account = SalesforceAccount(instanceURL: "https://own.test")
    _ = try? await wire.refresh(token, of: account)
    _ = try? await wire.revoke(token, at: "https://own.test")
    _ = try? await wire.userInfo(token, at: "https://own.test")
    _ = try? await wire.createDevice([:], token: token, at: "https://own.test")
    _ = try? await wire.deleteDevice("d1", token: token, at: "https://own.test")
    let devices = "/services/data/\(adapter.wire.settings.apiVersion)/sobjects/MobilePushServiceDevice"
    check(
      repeatable: ["GET /services/oauth2/userinfo"],
      once: [
        "POST /services/oauth2/token", "POST /services/oauth2/revoke", "POST \(devices)", "DELETE \(devices)/d1",
      ])
  }

  @Test("Chat repeats the exchange, which may be made with the same JWT while it lives")
  func chat() async throws {
    let adapter: ChatAdapter = try adapter(ZendeskChat(), ["account_key": "k", "id_url": "https://own.test"])
    _ = try? await adapter.wire.exchange(Secret("jwt-1"), state: nil, hints: [])
    check(repeatable: ["POST /authenticated/web/jwt"], once: [])
  }

  @Test("edna repeats its requests over HTTP, which only read")
  func edna() async throws {
    let adapter: EdnaAdapter = try adapter(
      EdnaChatCenter(),
      ["rest_url": "https://own.test", "ws_url": "wss://own.test/ws", "provider_uid": "p"])
    _ = try? await adapter.wire.pingInterval(EdnaState([:]))
    _ = try? await adapter.wire.probe(EdnaState([:]))
    check(repeatable: ["GET /api/chat/config", "GET /api/client/history"], once: [])
  }
}
