import DelegateBridge
import Foundation
import JSONRPC
import SDKProtocol
import Testing

@testable import SDKInstances
@testable import SDKKinds

/// The user that a set of tokens belongs to, and the form in which the tokens are stored and read again.
@Suite struct SalesforceUserTests {
  private static let alice = "https://login.salesforce.com/id/00D000000000001EAA/005000000000001AAB"

  private struct NoHTTP: HTTPSending {
    func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts { throw .timeout }
  }
  private struct NoSockets: SocketOpening {
    func open(_ request: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket { throw .timeout }
  }

  private let now = Timestamp(secondsSince1970: 1_800_000_000)

  private func adapter() throws -> SalesforceAdapter {
    let made = try SalesforceChat().makeAdapter(
      settings: ["client_id": "3MVG9"],
      services: AdapterServices(
        instance: "i", clock: WallClock(now: { Timestamp(secondsSince1970: 1_800_000_000) }, random: { 0 }),
        http: NoHTTP(), sockets: NoSockets(), supplied: SuppliedURLRule(domains: ["a.b"], ownURLs: [])))
    return try #require(made as? SalesforceAdapter)
  }

  private func settings(
    _ access: String, refresh: String? = nil, identity: String? = nil
  ) throws -> AuthenticationSettings {
    var members: JSONObject = ["instanceUrl": "https://acme.my.salesforce.com", "accessToken": .string(access)]
    members["refreshToken"] = refresh.map(JSON.string)
    members["identityUrl"] = identity.map(JSON.string)
    return try AuthenticationSettings(members)
  }

  @Test func theIdentityURLNamesTheUser() throws {
    let user = try #require(SalesforceUserID(identityURL: Self.alice))
    #expect(user.organization == "00D000000000001EAA")
    #expect(user.user == "005000000000001AAB")
    // The last three characters of an id are a checksum that some of the vendor's services omit.
    #expect(
      user.isSame(as: try #require(SalesforceUserID(identityURL: "https://x/id/00D000000000001/005000000000001"))))
    #expect(
      !user.isSame(as: try #require(SalesforceUserID(identityURL: "https://x/id/00D000000000001/005000000000002"))))
    #expect(
      !user.isSame(as: try #require(SalesforceUserID(identityURL: "https://x/id/00D000000000002/005000000000001"))))
    for odd in [
      "", "https://x", "https://x/id/a", "https://x/ids/a/b", "https://x/id//b", "https://x/id/a/b%2F", "id/a/b",
    ] {
      #expect(SalesforceUserID(identityURL: odd) == nil, "\(odd)")
    }
  }

  @Test func whetherItIsTheSameUserIsSaidWhereItIsKnown() throws {
    let adapter = try adapter()
    func identity(_ settings: AuthenticationSettings) -> IdentityRecord {
      IdentityRecord(
        phase: .authenticated, user: User(authenticationType: .oauth2, authenticated: true, verified: false),
        credential: Credential(token: settings.accessToken, type: .accessToken, obtainedAt: now, expiresAt: nil),
        kindState: settings.account.state)
    }
    func same(_ new: AuthenticationSettings, _ old: AuthenticationSettings) -> Bool? {
      let former = identity(old)
      return adapter.isSameUser(adapter.check(new, for: former, now: now), as: former)
    }
    let bob = "https://login.salesforce.com/id/00D000000000001EAA/005000000000002AAB"
    #expect(same(try settings("a", identity: Self.alice), try settings("b", identity: Self.alice)) == true)
    #expect(same(try settings("a", identity: Self.alice), try settings("a", identity: bob)) == false)
    #expect(same(try settings("a"), try settings("a", identity: bob)) == true)
    #expect(same(try settings("a", refresh: "r"), try settings("b", refresh: "r", identity: bob)) == true)
    #expect(same(try settings("a"), try settings("b")) == nil)
    #expect(same(try settings("a", refresh: "r"), try settings("b", refresh: "s", identity: bob)) == nil)
  }

  @Test func whatIsKeptIsReadAgain() throws {
    var account = SalesforceAccount(instanceURL: "https://a.b")
    #expect(SalesforceAccount(account.state) == account)
    account.refreshToken = Secret("r")
    account.clientId = "c"
    account.communityURL = "https://c.d"
    account.communityId = "e"
    account.identityURL = Self.alice
    #expect(SalesforceAccount(account.state) == account)
    #expect(SalesforceAccount([:]) == nil)
    #expect(account.loginURL == "https://c.d")
  }

  @Test func aRefusedRefreshTokenIsForgottenAndTheRestKept() throws {
    let adapter = try adapter()
    let given = try settings("a", refresh: "r", identity: Self.alice)
    var identity = IdentityRecord(phase: .authenticated, kindState: given.account.state)
    #expect(adapter.renewsItself(identity))
    identity.kindState = adapter.kindState(afterRefusalOf: identity)
    #expect(!adapter.renewsItself(identity))
    #expect(SalesforceAccount(identity.kindState)?.identityURL == Self.alice)
  }

  @Test func theOwnersAnswerIsCheckedLikeACallers() throws {
    let adapter = try adapter()
    let guest = IdentityRecord(phase: .noUser)
    func check(_ members: JSONObject) -> Result<CheckedCredential?, SDKError> {
      do throws(SDKError) {
        return .success(try adapter.check(BridgeAnswer(members: members), for: guest, now: now))
      } catch {
        return .failure(error)
      }
    }
    #expect(check(["authenticate": false]) == .success(nil))
    #expect(check(["authenticate": true]) == .success(nil))
    #expect(check(["authenticate": false, "settings": ["instanceUrl": "https://a.b"]]) == .success(nil))
    guard case .failure(let error) = check(["authenticate": true, "settings": ["instanceUrl": "https://a.b"]]) else {
      Issue.record("settings without a token were taken")
      return
    }
    #expect(error.reason == .providerOutputInvalid)
    #expect(error.message.contains("accessToken"))
    let good = check([
      "authenticate": true, "settings": ["account": ["instance_url": "https://a.b", "access_token": "t"]],
    ])
    #expect((try? good.get())??.credential.token == Secret("t"))
  }

  @Test func theFarewellSaysAllThatItNeeds() throws {
    let adapter = try adapter()
    let given = try settings("a", refresh: "r")
    let identity = IdentityRecord(
      phase: .authenticated, credential: adapter.check(given, for: .nobody(.noUser), now: now).credential,
      kindState: given.account.state)
    var push = PushRecord(
      id: "p", service: "chat", address: Secret("address"), type: "apns", locale: nil, user: .none, subject: nil,
      createdAt: now)
    push.vendorId = "0Mp1"
    let deliveries = adapter.farewell(to: identity, pushes: [push], isInformed: false, now: now)
    #expect(deliveries.map(\.purpose) == ["revoke"])
    #expect(deliveries.first?.details["refresh_token"] == Secret("r"))
    #expect(deliveries.first?.details["devices"] == Secret("0Mp1"))
    #expect(deliveries.first?.deadline == now + 86_400)
    #expect(adapter.farewell(to: identity, pushes: [], isInformed: true, now: now).isEmpty)
    #expect(adapter.farewell(to: .nobody(.anonymous), pushes: [], isInformed: false, now: now).isEmpty)
  }

  @Test("A secret is read from a small regular file that only its owner can read")
  func secretFile() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func read(_ contents: String?, mode: Int = 0o600) -> Result<Secret, SDKError> {
      let file = folder.appendingPathComponent(UUID().uuidString)
      if let contents {
        _ = FileManager.default.createFile(
          atPath: file.path, contents: Data(contents.utf8), attributes: [.posixPermissions: mode])
      }
      do throws(SDKError) {
        return .success(try SecretFile.read(file.path, setting: "client_secret_file"))
      } catch {
        return .failure(error)
      }
    }
    #expect(read("secret\r\n") == .success(Secret("secret")))
    #expect(read("secret", mode: 0o400) == .success(Secret("secret")))
    for bad in [nil, "", "\n", "two\nlines\n", String(repeating: "x", count: 5000)] {
      #expect((try? read(bad).get()) == nil)
    }
    guard case .failure(let error) = read("secret", mode: 0o644) else {
      Issue.record("a secret that everybody can read was taken")
      return
    }
    #expect(error.message == "The file of client_secret_file can be read by others; chmod 600 it.")
    #expect((try? SecretFile.read(folder.path, setting: "client_secret_file")) == nil)
    #expect((try? SecretFile.read("/dev/zero", setting: "client_secret_file")) == nil)
  }
}
