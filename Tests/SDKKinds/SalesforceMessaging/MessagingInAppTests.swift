import Foundation
import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

/// The local rules of Messaging for In-App and Web, without the network.
@Suite struct MessagingInAppTests {
  private let now = Timestamp(secondsSince1970: 1_800_000_000)

  private func settings(_ more: JSONObject = [:]) throws -> MessagingInAppSettings {
    let base: JSONObject = [
      "base_url": "https://acme.my.salesforce-scrt.com/", "org_id": "00D000000000001", "developer_name": "Web",
    ]
    return try Settings.decode(MessagingInAppSettings.self, from: base.merged(with: more), at: "settings")
  }

  private func token(_ claims: JSONObject, _ header: JSONObject = ["alg": "RS256", "kid": "k"]) -> Secret {
    func part(_ object: JSONObject) -> String {
      Data(JSONWriter.bytes(of: .object(object))).base64EncodedString().replacing("+", with: "-")
        .replacing("/", with: "_").replacing("=", with: "")
    }
    return Secret("\(part(header)).\(part(claims)).c2ln")
  }

  private let good: JSONObject = ["sub": "alice", "iss": "https://a.b", "iat": 1_800_000_000, "exp": 1_800_000_300]

  private func reason(_ token: Secret, _ more: JSONObject = [:]) throws -> Reason? {
    let settings = try settings(more)
    do throws(SDKError) {
      _ = try MessagingInAppJWT(token, settings: settings, now: now)
      return nil
    } catch {
      return error.reason
    }
  }

  @Test("A good JWT is read without hints")
  func aGoodJWTIsRead() throws {
    let jwt = try MessagingInAppJWT(token(good), settings: settings(["strict_jwt": true]), now: now)
    #expect(jwt.subject == "alice")
    #expect(jwt.issuer == "https://a.b")
    #expect(jwt.expiresAt == now + 300)
    #expect(jwt.hints.isEmpty)
  }

  @Test("A JWT without what the vendor needs is refused")
  func aJWTWithoutWhatTheVendorNeedsIsRefused() throws {
    #expect(try reason(Secret("a.b")) == .failedToDecodeJWT)
    for member in ["sub", "iss", "exp"] {
      #expect(try reason(token(good.merged(with: [member: .null]))) == .invalidJWTClaims, "\(member)")
      #expect(try reason(token(good.merged(with: [member: true]))) == .invalidJWTClaims, "\(member)")
    }
    #expect(try reason(token(good.merged(with: ["sub": ""]))) == .invalidJWTClaims)
    #expect(try reason(token(good.merged(with: ["exp": 1e300]))) == .invalidJWTClaims)
    #expect(try reason(token(good.merged(with: ["exp": -1]))) == .invalidJWTClaims)
    #expect(try reason(token(good.merged(with: ["exp": 1_800_000_000]))) == .expiredJWT)
  }

  @Test("What the vendor does not explain is a hint, and a refusal if the settings are strict")
  func whatTheVendorDoesNotExplainIsAHint() throws {
    let cases: [(Secret, String, Bool)] = [
      (token(good, ["alg": "HS256", "kid": "k"]), "alg:", true), (token(good, ["alg": "RS256"]), "kid:", true),
      (token(good.merged(with: ["iat": .null])), "iat:", true),
      (token(good.merged(with: ["exp": 1_800_100_000])), "exp:", false),
      (token(good.merged(with: ["sub": "a b"])), "sub:", false), (token(good), "iss:", true),
      (token(good.merged(with: ["exp": 1_800_000_010])), "nearExpiry", false),
    ]
    for (token, hint, isFatal) in cases {
      let more: JSONObject = hint == "iss:" ? ["identity_issuer": "https://c.d"] : [:]
      let jwt = try MessagingInAppJWT(token, settings: settings(more), now: now)
      #expect(jwt.hints.contains { $0.hasPrefix(hint) }, "\(hint)")
      let strict = try reason(token, more.merged(with: ["strict_jwt": true]))
      #expect(strict == (isFatal ? .invalidJWTClaims : nil), "\(hint)")
    }
  }

  @Test("An access token says whom it is for, if it is a JWT")
  func anAccessTokenSaysWhomItIsFor() {
    let claims = MessagingInAppClaims(
      token(["sub": "v2/iamessage/AUTH/x/uid:alice", "clientId": "v1/Web/1", "exp": 1_800_000_300]))
    #expect(claims.subject == "v2/iamessage/AUTH/x/uid:alice")
    #expect(claims.userId == "alice")
    #expect(claims.clientId == "v1/Web/1")
    #expect(claims.expiresAt == now + 300)
    for opaque in [Secret("opaque"), token(["sub": 7]), token(["sub": .string(String(repeating: "x", count: 300))])] {
      let claims = MessagingInAppClaims(opaque)
      #expect(claims.subject == nil)
      #expect(claims.userId == nil)
    }
    #expect(MessagingInAppClaims(token(["sub": "uid:"])).userId == nil)
  }

  @Test("Event ids are digits and move on only")
  func eventIdsMoveOnOnly() {
    var state = MessagingInAppState([:])
    for (next, expected) in [
      ("0", "0"), ("9", "9"), ("10", "10"), ("9", "10"), ("007", "10"), ("0011", "11"), ("x", "11"), ("", "11"),
      ("123456789012345678901", "11"),
    ] {
      state.note(lastEventId: next)
      #expect(state.lastEventId == expected, "\(next)")
    }
    #expect(MessagingInAppState(state.kindState).lastEventId == "11")
  }

  @Test("Hidden pre-chat fields are bounded in number and size")
  func hiddenPreChatFieldsAreBounded() throws {
    let most = Dictionary(uniqueKeysWithValues: (0..<64).map { ("f\($0)", "x") })
    #expect(try MessagingInAppState.checked(preChat: most) != nil)
    #expect(try MessagingInAppState.checked(preChat: [:]) == nil)
    #expect(try MessagingInAppState.checked(preChat: nil) == nil)
    for bad in [most.merging(["more": "x"]) { $1 }, ["": "x"], ["a": String(repeating: "x", count: 33_000)]] {
      #expect(throws: SDKError.self) { try MessagingInAppState.checked(preChat: bad) }
    }
  }

  @Test("Settings that can't work are refused with the member")
  func settingsThatCantWorkAreRefused() throws {
    let good = try settings(["device_id": "ABC"])
    #expect(good.base == "https://acme.my.salesforce-scrt.com")
    #expect(good.deviceId == "abc")
    #expect(good.realtimeURL == "https://acme.my.salesforce-scrt.com/eventrouter/v1/sse")
    #expect(try settings(["org_id": "00D000000000001AAA"]).shortOrgId == "00D000000000001")
    let file: JSONObject = ["Url": "https://c.d/", "OrganizationId": "00D000000000002", "DeveloperName": "Other"]
    let read = try Settings.decode(MessagingInAppSettings.self, from: ["configuration": .object(file)], at: "settings")
    #expect([read.base, read.shortOrgId, read.developerName] == ["https://c.d", "00D000000000002", "Other"])
    #expect(try settings(["configuration": .object(file)]).developerName == "Web")
    for (change, member) in [
      (["org_id": "00D"], "org_id"), (["org_id": "00D00000000000-"], "org_id"), (["base_url": "ftp://a"], "base_url"),
      (["developer_name": "a/b"], "developer_name"), (["developer_name": .null], "developer_name"),
      (["realtime_path": "x"], "realtime_path"), (["subject_pattern": ""], "subject_pattern"),
      (["configuration": [:], "org_id": .null], "configuration.OrganizationId"),
      (["capabilities_version": "a b"], "capabilities_version"),
    ] as [(JSONObject, String)] {
      do throws(RPCError) {
        let base: JSONObject = [
          "base_url": "https://a.b", "org_id": "00D000000000001", "developer_name": "Web",
        ]
        let all = base.merged(with: change)
        _ = try Settings.decode(
          MessagingInAppSettings.self,
          from: JSONObject(all.members.filter { !$0.value.isNull }.map { ($0.key, $0.value) }), at: "settings")
        Issue.record("\(member) was accepted")
      } catch {
        #expect(error.data["member"] == .string("settings.\(member)"))
      }
    }
  }

  @Test("Each generation of the API has its defaults")
  func eachGenerationHasItsDefaults() throws {
    let (v2, v1) = (try settings(), try settings(["api": "v1"]))
    #expect(v2.generation == .v2)
    #expect([v2.replacesGuests, v1.replacesGuests] == [true, false])
    #expect([v2.sendsDeviceIdOfGuests, v1.sendsDeviceIdOfGuests] == [false, true])
    #expect(try settings(["api": "v1", "guest_end": "new"]).replacesGuests)
    #expect(try !settings(["guest_end": "hold"]).replacesGuests)
    #expect(try !settings(["api": "v1", "send_device_id": "never"]).sendsDeviceIdOfGuests)
    #expect(v1.generation.paths.user == "/iamessage/v1/authorization/authenticated/accessToken")
    #expect(!KernelRelease.text.isEmpty)
  }

  @Test("An organisation's exchanges are limited, and logins go first")
  func anOrganisationsExchangesAreLimited() {
    let budget = MessagingInAppBudget()
    let (one, other) = (
      MessagingInAppBudget.Organization(base: "https://a.b", id: "00D1"),
      MessagingInAppBudget.Organization(base: "https://a.b", id: "00D2")
    )
    func taken(_ isLogin: Bool, at now: Timestamp) -> Int {
      var count = 0
      while budget.take(one, isLogin: isLogin, now: now) == nil { count += 1 }
      return count
    }
    #expect(taken(false, at: now) == 135)
    #expect(taken(true, at: now) == 15)
    #expect(abs((budget.take(one, isLogin: true, now: now) ?? 0) - 0.4) < 0.001)
    #expect(abs((budget.take(one, isLogin: false, now: now) ?? 0) - 6.4) < 0.001)
    #expect(budget.take(other, isLogin: false, now: now) == nil)
    #expect(taken(true, at: now + 4) == 10)
    #expect(taken(true, at: now - 100) == 0)
    budget.close(one, for: 30, now: now + 60)
    #expect(budget.take(one, isLogin: true, now: now + 60) == 30)
    #expect(budget.take(one, isLogin: true, now: now + 91) == nil)
  }
}
