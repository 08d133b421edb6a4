import JSONRPC
import SDKProtocol
import Synchronization
import Testing

@testable import SDKInstances
@testable import SDKKinds

/// The adapter's handling of responses, without a network.
struct MessagingAdapterTests {
  private static let now = Timestamp(secondsSince1970: 1_800_000_000)

  private final class Backend: HTTPSending {
    private let state = Mutex((calls: [HTTPRequestParts](), answers: [HTTPResponseParts]()))

    var calls: [String] {
      state.withLock { $0.calls }.map { call in
        "\(call.method) \(call.url.replacing("https://acme.zendesk.com/sc/sdk/v2/apps/a/", with: ""))"
      }
    }
    var hosts: [String] { state.withLock { $0.calls }.map { String($0.url.split(separator: "/")[1]) } }
    /// The list of hosts that is in force.
    let listed = Mutex<[String]?>(nil)
    var bodies: [JSON] {
      state.withLock { $0.calls }.map { $0.body.flatMap { try? JSONParser.parse($0) } ?? .null }
    }
    var authorizations: [String] {
      state.withLock { $0.calls }.map { $0.headers.first { $0.name == "Authorization" }?.value ?? "" }
    }

    func answer(_ status: Int, _ json: JSON? = [:]) {
      let response = HTTPResponseParts(status: status, body: json.map { JSONWriter.bytes(of: $0) } ?? [])
      state.withLock { $0.answers.append(response) }
    }

    func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts {
      let answer = state.withLock { state in
        state.calls.append(request)
        return state.answers.isEmpty ? nil : state.answers.removeFirst()
      }
      guard let answer else { throw .network("nothing is scripted") }
      return answer
    }
  }

  private struct NoSockets: SocketOpening {
    func open(_ request: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket { throw .timeout }
  }

  private func adapter(_ backend: Backend, _ settings: JSONObject = [:]) throws -> MessagingAdapter {
    let base: JSONObject = ["base_url": "https://acme.zendesk.com/sc/sdk", "app_id": "a"]
    return MessagingAdapter(
      settings: try Settings.decode(MessagingSettings.self, from: base.merged(with: settings), at: "settings"),
      services: AdapterServices(
        instance: "c-1", clock: WallClock(now: { Self.now }, random: { 0.5 }), http: backend, sockets: NoSockets(),
        supplied: ZendeskMessaging().settings.supplied(base.merged(with: settings), allowing: nil, isOfAdmin: true)))
  }

  @Test("A base URL from the vendor's settings is judged by the list that is in force")
  func listInForce() async throws {
    let settings: JSONObject = ["settings_url": "https://acme.zendesk.com/settings.json"]
    let backend = Backend()
    backend.listed.withLock { $0 = ["acme.zendesk.com"] }
    let adapter = MessagingAdapter(
      settings: try Settings.decode(MessagingSettings.self, from: settings, at: "settings"),
      services: AdapterServices(
        instance: "c-1", clock: WallClock(now: { Self.now }, random: { 0.5 }), http: backend, sockets: NoSockets(),
        supplied: ZendeskMessaging().settings.supplied(
          settings, allowing: backend.listed.withLock { $0 }, isOfAdmin: false)))
    let stated: JSON = ["config": ["app": ["_id": "a"], "baseUrl": "https://elsewhere.example/sc/sdk"]]
    backend.answer(200, stated)
    func signIn() async -> String? {
      await reason { () throws(SDKError) in _ = try await adapter.signIn(offered, from: .nobody(.noUser)) }
    }
    #expect(await signIn() == "badResponse")
    #expect(backend.hosts == ["acme.zendesk.com"])
    backend.listed.withLock { $0 = ["acme.zendesk.com", "elsewhere.example"] }
    backend.answer(200, stated)
    backend.answer(500)
    _ = await signIn()
    #expect(backend.hosts.prefix(3) == ["acme.zendesk.com", "acme.zendesk.com", "elsewhere.example"])
  }

  private let offered = CheckedCredential(
    credential: Credential(token: Secret("jwt-1"), type: .jwt, obtainedAt: now, expiresAt: nil), externalId: "alice")

  private static func anonymous() -> IdentityRecord {
    IdentityRecord(
      phase: .anonymous, user: User(id: "u0", authenticationType: .sessionToken, authenticated: false, verified: false),
      credential: Credential(token: Secret("s0"), type: .sessionToken, obtainedAt: now, expiresAt: nil))
  }

  private static func alice(_ id: String? = "u1", expiresAt: Timestamp? = nil) -> IdentityRecord {
    IdentityRecord(
      phase: .authenticated,
      user: User(id: id, externalId: "alice", authenticationType: .jwt, authenticated: true, verified: true),
      credential: Credential(token: Secret("jwt-1"), type: .jwt, obtainedAt: now, expiresAt: expiresAt))
  }

  private func reason(_ work: () async throws(SDKError) -> Void) async -> String? {
    do throws(SDKError) {
      try await work()
      return nil
    } catch {
      return error.reason.rawValue
    }
  }

  @Test func `A login whose anonymous user lives and whose JWT is refused has been refused`() async throws {
    let backend = Backend()
    backend.answer(401)
    backend.answer(200)
    let adapter = try adapter(backend)
    #expect(
      await reason { () throws(SDKError) in _ = try await adapter.signIn(offered, from: Self.anonymous()) }
        == "invalidAuth")
    #expect(backend.calls == ["POST login", "GET appusers/u0"])
    #expect(backend.bodies.first?["sessionToken"] == "s0")
  }

  @Test func `A login whose anonymous user is gone is made again without them`() async throws {
    for status in [401, 404] {
      let backend = Backend()
      backend.answer(401)
      backend.answer(status)
      backend.answer(200, ["appUser": ["_id": "u1"]])
      let result = try await adapter(backend).signIn(offered, from: Self.anonymous())
      #expect(result.user.id == "u1")
      #expect(result.merge == nil)
      #expect(backend.calls == ["POST login", "GET appusers/u0", "POST login"])
      #expect(backend.bodies.last?["appUserId"] == nil)
    }
  }

  @Test func `A user whom the vendor does not know any more logs in at the renewal`() async throws {
    let backend = Backend()
    backend.answer(404)
    backend.answer(200, ["appUser": ["_id": "u7"]])
    let result = try await adapter(backend).renew(with: offered, of: Self.alice())
    #expect(result.user.id == "u7")
    #expect(backend.calls == ["GET appusers/u1", "POST login"])
    // An unknown app is not a refusal of the credential, so the user stays logged in.
    let unknown = Backend()
    unknown.answer(404)
    unknown.answer(404)
    let adapter = try adapter(unknown)
    do throws(SDKError) {
      _ = try await adapter.renew(with: offered, of: Self.alice())
      Issue.record("it was accepted")
    } catch {
      #expect(error.reason == .notFound)
      #expect(!adapter.isRefusal(error))
    }
  }

  @Test func `A probe that does not find the user is a refusal`() async throws {
    let backend = Backend()
    backend.answer(404)
    let adapter = try adapter(backend)
    let credential = offered.credential
    do throws(SDKError) {
      _ = try await adapter.probe(credential, of: Self.alice())
      Issue.record("it was accepted")
    } catch {
      #expect(adapter.isRefusal(error))
    }
  }

  @Test func `An empty answer to a login leaves the user who it was, or nobody with an id`() async throws {
    let backend = Backend()
    backend.answer(200, nil)
    backend.answer(204, nil)
    let adapter = try adapter(backend)
    #expect(try await adapter.signIn(offered, from: Self.alice()).user.id == "u1")
    #expect(try await adapter.signIn(offered, from: .nobody(.noUser)).user.id == nil)
    #expect(
      await reason { () throws(SDKError) in try await adapter.signOut(offered.credential, of: Self.alice(nil), on: nil)
      } == "notFound")
    #expect(backend.calls.count == 2)
  }

  @Test func `A forbidden request is repeated once, after a login where there is a JWT`() async throws {
    let backend = Backend()
    for status in [403, 200, 403] { backend.answer(status) }
    let adapter = try adapter(backend)
    let credential = offered.credential
    #expect(
      await reason { () throws(SDKError) in _ = try await adapter.probe(credential, of: Self.alice()) } == "forbidden")
    #expect(backend.calls == ["GET appusers/u1", "POST login", "GET appusers/u1"])
    let refused = Backend()
    for status in [403, 401] { refused.answer(status) }
    let other = try self.adapter(refused)
    #expect(
      await reason { () throws(SDKError) in _ = try await other.probe(credential, of: Self.alice()) } == "forbidden")
    #expect(refused.calls.count == 2)
    let guest = Backend()
    for status in [403, 200] { guest.answer(status) }
    let session = try #require(Self.anonymous().credential)
    _ = try await self.adapter(guest).probe(session, of: Self.anonymous())
    #expect(guest.calls == ["GET appusers/u0", "GET appusers/u0"])
  }

  // MARK: Push

  private static let push = PushRecord(
    id: "p1", service: nil, address: Secret("address"), type: "fcm", locale: nil, user: .none, subject: nil,
    createdAt: now)

  @Test func `A user who goes without the vendor's knowledge leaves the removal of the push, with the old token`()
    async throws
  {
    let backend = Backend()
    let adapter = try adapter(backend, ["integration_id": "i1"])
    let left = adapter.farewell(to: Self.alice(), pushes: [Self.push], isInformed: false, now: Self.now)
    var delivery = try #require(left.first)
    #expect(left.count == 1)
    #expect(delivery.purpose == "unregisterPush")
    #expect(delivery.endsAtSignIn == true)
    backend.answer(200)
    // The settings name another backend by now. The delivery still goes to the old one.
    try await self.adapter(backend, ["base_url": "https://other.zendesk.com", "app_id": "b"]).deliver(&delivery)
    #expect(backend.calls == ["PUT appusers/u1/clients/c1"])
    #expect(backend.bodies == [["pushNotificationToken": "", "integrationId": "i1"]])
    #expect(backend.authorizations == ["Bearer jwt-1"])
    backend.answer(401)
    #expect(await reason { () throws(SDKError) in try await adapter.deliver(&delivery) } == "invalidAuth")
  }

  @Test func `Nothing is left where there was no push, where the vendor knows, or with a dead token`() throws {
    let adapter = try adapter(Backend())
    #expect(adapter.farewell(to: Self.alice(), pushes: [], isInformed: false, now: Self.now).isEmpty)
    #expect(adapter.farewell(to: Self.alice(), pushes: [Self.push], isInformed: true, now: Self.now).isEmpty)
    let dead = Self.alice(expiresAt: Self.now)
    #expect(adapter.farewell(to: dead, pushes: [Self.push], isInformed: false, now: Self.now).isEmpty)
    let short = adapter.farewell(
      to: Self.alice(expiresAt: Self.now + 60), pushes: [Self.push], isInformed: false, now: Self.now)
    #expect(short.first?.deadline == Self.now + 60)
  }

  // MARK: Realtime

  @Test func `A socket is kept when the vendor offers one and the settings do not object`() async throws {
    let backend = Backend()
    let offer: JSON = ["enabled": true, "baseUrl": "https://api.smooch.io/faye"]
    backend.answer(200, ["appUser": ["_id": "u1"], "settings": ["realtime": offer]])
    let adapter = try adapter(backend)
    let result = try await adapter.signIn(offered, from: .nobody(.noUser))
    var identity = Self.alice()
    #expect(!adapter.keepsConnection(for: identity))
    identity.kindState = result.kindState
    #expect(adapter.account.realtimeURL(of: identity) == "wss://api.smooch.io/faye")
    #expect(adapter.keepsConnection(for: identity))
    #expect(try !self.adapter(backend, ["realtime": "off"]).keepsConnection(for: identity))
    #expect(!adapter.keepsConnection(for: .nobody(.noUser)))
    let own = try self.adapter(backend, ["realtime_url": "wss://rt.example.com/"])
    #expect(own.keepsConnection(for: Self.alice()))
    #expect(own.account.realtimeURL(of: identity) == "wss://rt.example.com/")
  }

  @Test func `A channel key's URL is known to whoever checks where an instance may lead`() {
    let kind = ZendeskMessaging()
    // Base64 of {"settingsUrl":"https://acme.zendesk.com/x.json"}.
    let key = "eyJzZXR0aW5nc1VybCI6Imh0dHBzOi8vYWNtZS56ZW5kZXNrLmNvbS94Lmpzb24ifQ=="
    #expect(
      kind.settings.hiddenURLs(["channel_key": .string(key)]) == ["channel_key": "https://acme.zendesk.com/x.json"])
    #expect(kind.settings.hiddenURLs(["channel_key": "nonsense"]).isEmpty)
    #expect(kind.settings.hiddenURLs([:]).isEmpty)
  }
}
