import JSONRPC
import SDKInstances
import SDKProtocol
import Synchronization
import Testing

@testable import SDKKinds

/// The exchange of an identity for an access token, and the meaning of the responses.
@Suite struct SupportExchangeTests {
  private let alice = SupportIdentity.unique(Secret("alice-unique-id-00"))
  private let vendor = SupportVendor()

  private func signIn(
    _ identity: SupportIdentity, _ settings: JSONObject = ["authentication": "jwt"], from record: IdentityRecord? = nil
  ) async throws -> SignedIn {
    let adapter = try SupportAdapter.at(vendor, settings)
    return try await adapter.signIn(try adapter.offered(identity), from: record ?? .nobody(.noUser))
  }

  @Test("A unique id is sent alone, and the user is verified")
  func unique() async throws {
    vendor.accept("t1", userId: 360_000_000_001)
    let result = try await signIn(alice)
    #expect(vendor.calls == ["POST /access/sdk/jwt"])
    #expect(vendor.body == ["user": ["token": "alice-unique-id-00"]])
    #expect(result.user.id == "360000000001")
    #expect(result.user.verified)
    #expect(result.credential?.token == Secret("t1"))
    #expect(result.events == [.identityChanged])
  }

  @Test("An anonymous one is sent with its guid and what was given")
  func anonymous() async throws {
    vendor.accept("t1")
    let result = try await signIn(.anonymous(name: "Anna"), ["authentication": "anonymous"])
    let guid = result.kindState[SupportIdentity.guidKey]?.reveal() ?? ""
    #expect(vendor.body == ["user": ["sdk_guid": .string(guid), "name": "Anna"]])
    let headers = vendor.requests.last?.headers ?? []
    #expect(headers.first { $0.name == "Mobile-Sdk-Identity" }?.value == guid)
    #expect(headers.first { $0.name == "Client-Identifier" }?.value == "client")
    #expect(!headers.contains { $0.name == "Authorization" })
    #expect(!result.user.verified)
  }

  @Test("Settings are read from both places and remembered with the identity", arguments: [true, false])
  func settings(isNested: Bool) async throws {
    vendor.answer(200, isNested ? ["core": ["authentication": "jwt"]] : ["authentication": "jwt"])
    vendor.accept("t1")
    let result = try await signIn(alice, [:])
    #expect(vendor.calls == ["GET /api/private/mobile_sdk/settings/app.json", "POST /access/sdk/jwt"])
    #expect(result.kindState[SupportIdentity.authenticationKey] == Secret("jwt"))
    let kept = try SupportAdapter.at(vendor).remainder(
      of: IdentityRecord(phase: .authenticated, kindState: result.kindState), pushes: [])
    #expect(kept == [SupportIdentity.authenticationKey: Secret("jwt")])
    // The remembered type makes another request for the settings needless, and the setting overrides it.
    let gone = IdentityRecord(phase: .loggedOut, kindState: kept)
    vendor.accept("t2")
    _ = try await signIn(alice, [:], from: gone)
    vendor.accept("t3")
    _ = try await signIn(.anonymous(), ["authentication": "anonymous"], from: gone)
    #expect(vendor.calls.count == 4)
  }

  @Test("Before another type is refused the settings are read again, at most once a minute")
  func changedSettings() async throws {
    let clock = Mutex(SupportAdapter.now)
    let adapter = try SupportAdapter.at(vendor, [:]) { clock.withLock { $0 } }
    var record = IdentityRecord(phase: .loggedOut)
    record.kindState = [SupportIdentity.authenticationKey: Secret("jwt")]
    func signIn(_ identity: SupportIdentity) async -> String {
      await reason { try await adapter.signIn(try adapter.offered(identity), from: record) }
    }
    vendor.answer(200, ["authentication": "jwt"])
    #expect(await signIn(.anonymous()) == "identityMismatch")
    #expect(await signIn(.anonymous()) == "identityMismatch")
    #expect(vendor.calls.count == 1)
    clock.withLock { $0 = $0 + 61 }
    vendor.answer(200, ["authentication": "anonymous"])
    vendor.accept("t1")
    #expect(await signIn(.anonymous()) == "none")
    #expect(vendor.calls.suffix(2) == ["GET /api/private/mobile_sdk/settings/app.json", "POST /access/sdk/anonymous"])
    // When the settings can't be read, the identity is not refused: the error is `network`.
    clock.withLock { $0 = $0 + 61 }
    vendor.answer(503, [:])
    #expect(await signIn(alice) == "network")
  }

  @Test("After a 401 of the exchange the settings are read again, and a hint tells of another type")
  func settingsAfterARefusal() async throws {
    var record = IdentityRecord(phase: .loggedOut)
    record.kindState = [SupportIdentity.authenticationKey: Secret("jwt")]
    let adapter = try SupportAdapter.at(vendor, [:])
    vendor.answer(401, ["error": "Couldn't authenticate you"])
    vendor.answer(200, ["authentication": "anonymous"])
    do {
      _ = try await adapter.signIn(try adapter.offered(alice), from: record)
      Issue.record("the refused identity was accepted")
    } catch let error as SDKError {
      #expect(error.reason == .invalidAuth)
      #expect(error.httpStatus == 401)
      #expect(error.hints == ["identity.type: the account takes anonymous identities now"])
    }
    vendor.accept("t1")
    let result = try await adapter.signIn(try adapter.offered(.anonymous()), from: record)
    #expect(result.kindState[SupportIdentity.authenticationKey] == Secret("anonymous"))
    #expect(vendor.calls.count == 3)
  }

  @Test("Names and e-mail addresses have at most 512 bytes")
  func lengths() async throws {
    let adapter = try SupportAdapter.at(vendor, ["authentication": "anonymous"])
    let long = String(repeating: "é", count: 257)
    #expect(await reason { try adapter.offered(.anonymous(name: long)) } == "invalidName")
    #expect(await reason { try adapter.offered(.anonymous(email: long)) } == "invalidEmail")
    #expect(await reason { try adapter.offered(.anonymous(name: String(long.dropLast()))) } == "none")
  }

  private static let ids: [(JSON, String?)] = [
    (7, "7"), ("7", "7"), (7.0, "7"), (7.5, nil), (0, nil), (-7, nil), ("", nil), ("seven", nil), ("7e3", nil),
    (nil, nil),
    (["id": 7], nil), (true, nil), ("123456789012345678901", nil),
  ]

  @Test("A user id is a number or its digits", arguments: ids)
  func userIds(value: JSON, expected: String?) async throws {
    vendor.accept("t1", userId: value)
    guard let expected else {
      #expect(await reason { try await signIn(alice) } == "badResponse")
      return
    }
    #expect(try await signIn(alice).user.id == expected)
  }

  @Test("A token that can't stand in a header is none", arguments: ["", "a b", "a\r\nb", "ä"])
  func tokens(text: String) async throws {
    vendor.accept(text)
    #expect(await reason { try await signIn(alice) } == "badResponse")
  }

  @Test("A conflict is tried again three times", arguments: [3, 4])
  func conflicts(count: Int) async throws {
    for _ in 0..<count { vendor.answer(409, [:]) }
    vendor.accept("t1")
    #expect(await reason { try await signIn(alice) } == (count == 3 ? "none" : "badResponse"))
    #expect(vendor.calls.count == 4)
  }

  @Test("Refusals have their reasons, with the findings of the lint")
  func refusals() async throws {
    let adapter = try SupportAdapter.at(vendor)
    for (status, expected) in [(401, "invalidAuth"), (403, "agentNotAllowed"), (404, "notFound"), (500, "serverError")]
    {
      vendor.answer(status, ["error": "Couldn't authenticate you"])
      do {
        _ = try await signIn(.unique(Secret("weak")))
        Issue.record("\(status) was accepted")
      } catch let error as SDKError {
        #expect(error.reason.rawValue == expected)
        #expect(adapter.isRefusal(error) == (status < 404))
        #expect((adapter.traits.finalReason == error.reason) == (status == 403))
        #expect(error.hints.count == (status < 404 ? 1 : 0))
      }
    }
  }

  @Test("Another user behind a unique id is refused; behind a guid it is a merge at the vendor")
  func otherUsers() async throws {
    let adapter = try SupportAdapter.at(vendor)
    vendor.accept("t1", userId: 8)
    #expect(await reason { try await adapter.renewItself(adapter.set(alice)) } == "providerTokenForOtherUser")
    vendor.accept("t1", userId: 8)
    let held = adapter.set(.supplied(Secret("alice-unique-id-00")))
    let next = adapter.credential(
      .supplied(Secret("other-unique-id-00")), guid: adapter.newGuid(), hints: [], now: SupportAdapter.now)
    #expect(await reason { try await adapter.renew(with: next, of: held) } == "providerTokenForOtherUser")
    vendor.accept("t1", userId: 8)
    #expect(await reason { try await adapter.signIn(next, from: held) } == "providerTokenForOtherUser")
    vendor.accept("t1", userId: 8)
    let anonymous = try SupportAdapter.at(vendor, ["authentication": "anonymous"])
    #expect(try await anonymous.renewItself(anonymous.set(.anonymous())).user.id == "8")
  }

  @Test("A renewal sends the same identity and guid")
  func renewal() async throws {
    let adapter = try SupportAdapter.at(vendor, ["authentication": "anonymous"])
    vendor.accept("t1")
    let result = try await adapter.renewItself(adapter.set(.anonymous(name: "Anna", email: "a@b.c")))
    #expect(vendor.body == ["user": ["sdk_guid": "0f0e0d0c-guid", "name": "Anna", "email": "a@b.c"]])
    #expect(result.events.isEmpty)
    // A renewal does not send personal data that `coppa` forbids by now.
    let strict = try SupportAdapter.at(vendor, ["authentication": "anonymous", "coppa": true])
    #expect(await reason { try await strict.renewItself(strict.set(.anonymous(name: "A"))) } == "personalDataRefused")
    #expect(vendor.calls.count == 1)
  }

  @Test("Only a 401 speaks against a token that is looked at", arguments: [401, 403, 404, 500, 200])
  func probes(status: Int) async throws {
    let adapter = try SupportAdapter.at(vendor)
    let record = adapter.set(alice)
    vendor.answer(status, [:])
    do {
      _ = try await adapter.probe(try #require(record.credential), of: record)
      #expect(status == 200)
    } catch let error as SDKError {
      #expect(adapter.isRefusal(error) == (status == 401))
      #expect((error.origin == .vendor) == (status == 401))
    }
    #expect(vendor.calls == ["GET /api/mobile/users/me.json"])
  }
}
