import Foundation
import JSONRPC
import Testing

/// The rows G7 to G26 of the design's table for Messaging for In-App and Web, through the socket, the daemon and real
/// HTTP.
@Suite struct SalesforceMessagingTokenRowTests {
  // MARK: G7

  @Test("A kept JWT is exchanged again without a question")
  func G7_aKeptJWTIsExchangedAgain() throws {
    let desk = try InAppDesk(script: InAppDesk.minting)
    try desk.signIn()
    let first = try desk.token()["token"]
    try desk.revoke()
    try desk.reject()
    let second = try desk.token()["token"]
    #expect(second != first)
    #expect(desk.asked().isEmpty)
    #expect(try desk.exchanges() == 2)
    #expect(try desk.types("tokenRefreshed", "authenticationFailed") == ["tokenRefreshed"])
    #expect(try desk.crashed().token()["token"] == second)
  }

  @Test("A kept JWT that the vendor refuses is destroyed, and the bridge is asked with the vendor's words")
  func G7_aRefusedKeptJWTIsDestroyed() throws {
    let desk = try InAppDesk(script: InAppDesk.minting)
    try desk.signIn()
    try desk.script(["status": 401, "body": ["message": "The token has expired."]])
    try desk.revoke()
    try desk.reject()
    #expect(try desk.token()["tokenType"] == "accessToken")
    #expect(desk.asked().map { $0["question"] } == ["invalidAuth"])
    #expect(desk.asked().first?["error"]?["reason"] == "expiredJWT")
    #expect(desk.asked().first?["error"]?["description"] == "The token has expired.")
    #expect(try desk.exchanges() == 3)
  }

  @Test("Without a kept JWT the bridge is asked when the token has expired")
  func G7_theBridgeIsAskedWhenTheTokenHasExpired() throws {
    let desk = try InAppDesk(settings: ["keep_identity_token": false], script: InAppDesk.minting)
    try desk.options(["ttl": JSON(Vendor.shortLife)])
    let first = try {
      try desk.signIn()
      return try desk.token()["token"]
    }()
    try desk.options(["ttl": .null])
    try eventually("the token is another one") { try desk.token()["token"] != first }
    #expect(desk.asked().map { $0["question"] } == ["invalidAuth"])
    #expect(desk.asked().first?["user"]?["externalId"] == "alice")
  }

  // MARK: G8

  @Test("Two refused answers end a renewal, and the user is kept")
  func G8_twoRefusedAnswersEndARenewal() throws {
    let desk = try InAppDesk(
      settings: ["keep_identity_token": false, "refresh": ["min_interval": 0.2, "max_attempts": 5]],
      script: "exec \(InAppDesk.mint) --sub alice --kid unknown")
    try desk.signIn()
    try desk.revoke()
    try desk.reject()
    let error = try desk.failure("token.get")
    #expect(error["reason"] == "invalidAuth")
    #expect(try desk.exchanges() == 3)
    #expect(desk.asked().map { $0["attempt"] } == [1, 2])
    #expect(desk.asked().last?["question"] == "invalidAuth")
    #expect(try desk.types("userLoggedOut", "identityWiped").isEmpty)
    try eventually("the user must sign in again") { try desk.state() == "reauthNeeded" }
    #expect(try desk.types("authenticationFailed") == ["authenticationFailed"])
    #expect(try desk.call("instance.currentUser")["externalId"] == "alice")
    try desk.signIn()
    #expect(try desk.state() == "authenticated")
  }

  @Test("Refused answers over several calls log the user out when max_attempts is spent")
  func G8_refusedAnswersOverSeveralCallsLogTheUserOut() throws {
    let desk = try InAppDesk(
      settings: ["keep_identity_token": false, "refresh": ["min_interval": 0.2, "max_attempts": 3]],
      script: "exec \(InAppDesk.mint) --sub alice --kid unknown")
    try desk.signIn()
    try desk.revoke()
    try desk.reject()
    _ = try desk.failure("token.get")
    #expect(try desk.types("userLoggedOut").isEmpty)
    _ = try desk.failure("token.refresh")
    #expect(try desk.exchanges() == 4)
    #expect(try desk.events("userLoggedOut").last?["data"]?["cause"] == "implicit")
    #expect(try desk.state() == "loggedOut")
  }

  @Test("A denial by the provider logs the user out")
  func G8_aDenialLogsTheUserOut() throws {
    let desk = try InAppDesk(settings: ["keep_identity_token": false], script: "exit 77")
    try desk.signIn()
    try desk.revoke()
    try desk.reject()
    _ = try desk.failure("token.get")
    #expect(try desk.events("userLoggedOut").last?["data"]?["cause"] == "implicit")
    #expect(try desk.state() == "loggedOut")
    #expect(try desk.failure("token.get")["reason"] == "notAuthenticated")
  }

  @Test("A provider that fails is no answer: the user is kept")
  func G8_aProviderThatFailsIsNoAnswer() throws {
    let desk = try InAppDesk(settings: ["keep_identity_token": false], script: "exit 1")
    try desk.signIn()
    try desk.revoke()
    try desk.reject()
    _ = try desk.failure("token.get")
    #expect(try desk.open()["visible"] == false)
    #expect(try desk.state() == "reauthNeeded")
    #expect(try desk.types("userLoggedOut").isEmpty)
  }

  // MARK: G9

  @Test("Fifty readers of a refused token cause one question and one exchange")
  func G9_fiftyReadersCauseOneExchange() throws {
    let desk = try InAppDesk(settings: ["keep_identity_token": false], script: "sleep 0.3; \(InAppDesk.minting)")
    try desk.signIn()
    try desk.revoke()
    try desk.reject()
    let ids = (0..<50).map { _ in desk.line.begin("token.get", ["instance": "desk"]) }
    let tokens = try Set(ids.map { try desk.line.answer($0)["result"]?["token"]?.stringValue ?? "none" })
    #expect(tokens.count == 1)
    #expect(desk.asked().count == 1)
    #expect(try desk.exchanges() == 2)
    #expect(try desk.types("tokenRefreshed", "authenticationFailed") == ["tokenRefreshed"])
  }

  // MARK: G10

  @Test("Maintenance signs nobody out and asks nobody")
  func G10_maintenanceSignsNobodyOut() throws {
    let desk = try InAppDesk(settings: ["keep_identity_token": false], script: InAppDesk.minting)
    try desk.signIn()
    let token = try desk.token()["token"]
    try desk.script([
      "status": 423, "times": "forever", "body": ["message": "later", "errorCode": "ORG_UNDER_MAINTENANCE"],
    ])
    let error = try desk.failure("messagingInApp.setIdentityToken", ["identityToken": .string(try InAppDesk.jwt())])
    #expect(error["reason"] == "serverError")
    #expect(error["retryable"] == true)
    #expect(try desk.token()["token"] == token)
    #expect(desk.asked().isEmpty)
    #expect(try desk.types("userLoggedOut", "authenticationFailed").isEmpty)
  }

  @Test("An organisation that is not served is not retried")
  func G10_anOrganisationThatIsNotServedIsNotRetried() throws {
    let desk = try InAppDesk()
    try desk.script(["status": 423, "body": ["message": "no", "errorCode": "ORG_NOT_SUPPORTED"]])
    let error = try desk.failure("messagingInApp.setIdentityToken", ["identityToken": .string(try InAppDesk.jwt())])
    #expect(error["reason"] == "forbidden")
    #expect(error["retryable"] == false)
  }

  // MARK: G11

  @Test("A refusal for a reason in the account has its message, and asks nobody")
  func G11_aRefusalForAReasonInTheAccountAsksNobody() throws {
    let desk = try InAppDesk(script: InAppDesk.minting)
    try desk.options(["noActiveSchemes": true])
    let schemes = try desk.failure("token.get")
    #expect(schemes["reason"] == "forbidden")
    #expect(schemes["vendorDescription"] == "User verification configuration has no active AuthSchemes.")
    #expect(schemes["retryable"] == false)
    #expect(desk.asked().count == 1)
    let unknown = try InAppDesk(settings: ["developer_name": "Nowhere"])
    let error = try unknown.failure(
      "messagingInApp.setIdentityToken", ["identityToken": .string(try InAppDesk.jwt())])
    #expect(error["reason"] == "notFound")
    #expect(error["vendorDescription"] == "Deployment not found")
  }

  @Test("Too many exchanges are retried later", arguments: [true, false])
  func G11_tooManyExchangesAreRetriedLater(_ says: Bool) throws {
    let desk = try InAppDesk(script: InAppDesk.minting)
    try desk.script(["status": 429, "headers": says ? ["Retry-After": "7"] : [:]])
    let error = try desk.failure("messagingInApp.setIdentityToken", ["identityToken": .string(try InAppDesk.jwt())])
    #expect(error["reason"] == "rateLimited")
    #expect((error["retryAfter"]?.doubleValue ?? 0) > (says ? 6 : 59))
    #expect(desk.asked().isEmpty)
  }

  @Test("Two instances of an organisation share its limit")
  func G11_twoInstancesOfAnOrganisationShareItsLimit() throws {
    let desk = try InAppDesk()
    try desk.create("other", settings: ["org_id": "00Dsandbox00001AAA"])
    try desk.script(["status": 429, "headers": ["Retry-After": "30"]])
    let jwt = JSON.string(try InAppDesk.jwt())
    _ = try desk.failure("messagingInApp.setIdentityToken", ["identityToken": jwt])
    let id = desk.line.begin("messagingInApp.setIdentityToken", ["instance": "other", "identityToken": jwt])
    let error = try desk.line.answer(id)["error"]?["data"]
    #expect(error?["reason"] == "rateLimited")
    #expect((error?["retryAfter"]?.doubleValue ?? 0) > 1)
    #expect(try desk.exchanges() == 1)
  }

  // MARK: G12

  @Test("A passthrough is used without an exchange, and revoked like any other")
  func G12_aPassthroughIsUsedWithoutAnExchange() throws {
    let desk = try InAppDesk()
    try desk.create("other")
    try desk.line.call(
      "messagingInApp.setIdentityToken", ["instance": "other", "identityToken": .string(try InAppDesk.jwt())])
    let access = try desk.line.call("token.get", ["instance": "other"])["token"] ?? .null
    let user = try desk.call("messagingInApp.setPassthrough", ["accessToken": access, "lastEventId": "41"])
    #expect(user["externalId"] == "alice")
    #expect(user["id"] == "v2/iamessage/AUTH/sandbox/uid:alice")
    #expect(try desk.token()["token"] == access)
    #expect(try desk.open()["endpoint"]?["lastEventId"] == "41")
    #expect(try desk.exchanges() == 1)
    #expect(try desk.call("messagingInApp.revokeToken")["backendInformed"] == true)
    #expect(try desk.issued().first?["revoked"] == true)
  }

  @Test("The bridge may answer with a passthrough, but not with a guest's")
  func G12_theBridgeMayAnswerWithAPassthrough() throws {
    let desk = try InAppDesk(script: "cat answer")
    try desk.create("other")
    try desk.line.call(
      "messagingInApp.setIdentityToken", ["instance": "other", "identityToken": .string(try InAppDesk.jwt())])
    let access = try desk.line.call("token.get", ["instance": "other"])["token"] ?? .null
    try desk.desk.write("answer", JSONWriter.text(of: ["accessToken": access, "lastEventId": "3"]))
    #expect(try desk.token()["token"] == access)
    #expect(try desk.exchanges() == 1)
    try desk.create("guests", settings: ["developer_name": "Sandbox_Guests", "user_verification": "off"])
    _ = try desk.line.call("session.open", ["instance": "guests"])
    let guest = try desk.line.call("token.get", ["instance": "guests"])["token"] ?? .null
    let error = try desk.failure("messagingInApp.setPassthrough", ["accessToken": guest])
    #expect(error["reason"] == "invalidAuth")
    #expect(try desk.token()["token"] == access)
  }

  // MARK: G13

  @Test("A guest is made by the first session, and can't become a user")
  func G13_aGuestIsMadeByTheFirstSession() throws {
    let desk = try InAppDesk(settings: ["developer_name": "Sandbox_Guests", "user_verification": "off"])
    #expect(try desk.state() == "noUser")
    let session = try desk.open()
    #expect(session["user"]?["authenticationType"] == "sessionToken")
    #expect(session["user"]?["authenticated"] == false)
    #expect(session["mayMerge"] == false)
    #expect(try desk.state() == "anonymous")
    #expect(try desk.types("anonymousUserCreated") == ["anonymousUserCreated"])
    #expect(try desk.crashed().open()["user"]?["id"] == session["user"]?["id"])
    let next = try desk.crashed()
    let error = try next.failure("messagingInApp.setIdentityToken", ["identityToken": .string(try InAppDesk.jwt())])
    #expect(error["reason"] == "identityChangeRefused")
    #expect(try next.call("messagingInApp.revokeToken")["backendInformed"] == false)
    #expect(try next.revokes() == 0)
  }

  // MARK: G14

  @Test("A guest whom the vendor refuses twice ends, and the next session makes another", arguments: ["new", "hold"])
  func G14_aGuestWhomTheVendorRefusesTwiceEnds(_ end: String) throws {
    let desk = try InAppDesk(settings: [
      "developer_name": "Sandbox_Guests", "user_verification": "off", "guest_end": .string(end),
    ])
    let first = try desk.open()["user"]?["id"] ?? .null
    let token = try desk.token()
    try desk.revoke(String((first.stringValue ?? "").split(separator: ":").last ?? ""))
    let report: JSONObject = ["tokenId": token["tokenId"] ?? .null, "status": 401]
    _ = try desk.call("token.reject", report)
    try eventually("the guest has ended") {
      _ = desk.line.begin("token.get", ["instance": "desk"])
      return try desk.state() == (end == "new" ? "loggedOut" : "reauthNeeded")
    }
    guard end == "new" else {
      #expect(try desk.types("userLoggedOut").isEmpty)
      return
    }
    #expect(try desk.types("identityWiped", "userLoggedOut").sorted() == ["identityWiped", "userLoggedOut"])
    #expect(try desk.events("userLoggedOut").last?["data"]?["cause"] == "guest")
    #expect(try desk.open()["user"]?["id"] != first)
    #expect(try desk.types("anonymousUserCreated").count == 2)
  }

  // MARK: G15

  @Test("Revoking tells the vendor first, and then wipes")
  func G15_revokingTellsTheVendorFirst() throws {
    let desk = try InAppDesk()
    #expect(try desk.call("messagingInApp.revokeToken")["backendInformed"] == false)
    try desk.signIn()
    #expect(try desk.call("messagingInApp.revokeToken")["backendInformed"] == true)
    #expect(try desk.issued().last?["revoked"] == true)
    #expect(try desk.state() == "loggedOut")
    #expect(try desk.events("userLoggedOut").last?["data"]?["cause"] == "explicit")
    try desk.signIn()
    try desk.revoke()
    _ = try desk.call("messagingInApp.revokeToken")
    #expect(try desk.state() == "loggedOut")
    #expect(try desk.call("instance.get")["pending"]?.arrayValue?.isEmpty ?? true)
  }

  @Test("With the vendor down everything is kept, or a delivery survives a restart")
  func G15_withTheVendorDownEverythingIsKept() throws {
    let desk = try InAppDesk()
    try desk.signIn()
    let token = try desk.token()["token"]
    try desk.script(["status": 503, "times": "forever"], at: InAppDesk.revokeRoute)
    #expect(try desk.failure("messagingInApp.revokeToken")["reason"] == "serverError")
    #expect(try desk.token()["token"] == token)
    #expect(try desk.call("messagingInApp.revokeToken", ["localOnly": true])["backendInformed"] == false)
    #expect(try desk.state() == "loggedOut")
    let next = try desk.crashed()
    #expect(try next.call("instance.get")["pending"]?.arrayValue?.first?["purpose"] == "revoke")
    try next.desk.vendor.clearScripts()
    try eventually("the token is revoked") { try next.issued().last?["revoked"] == true }
    try eventually("nothing is pending") {
      try next.call("instance.get")["pending"]?.arrayValue?.isEmpty ?? true
    }
  }

  @Test("A sign-in that the vendor accepts after a logout is revoked")
  func G15_aLateSignInIsRevoked() throws {
    let desk = try InAppDesk(script: InAppDesk.minting)
    try desk.script(["passThrough": true, "delayMs": 700])
    let id = desk.line.begin(
      "messagingInApp.setIdentityToken", ["instance": "desk", "identityToken": .string(try InAppDesk.jwt())])
    try eventually("the exchange has begun") { try desk.exchanges() == 1 }
    _ = try desk.call("messagingInApp.revokeToken")
    #expect(try desk.line.answer(id)["error"]?["data"]?["reason"] == "superseded")
    try eventually("the late token is revoked") { try desk.issued().last?["revoked"] == true }
    #expect(try desk.call("instance.currentUser")["id"] == nil)
    // The same through the bridge.
    try desk.script(["passThrough": true, "delayMs": 700])
    let read = desk.line.begin("token.get", ["instance": "desk"])
    try eventually("the second exchange has begun") { try desk.exchanges() == 2 }
    _ = try desk.call("messagingInApp.revokeToken")
    _ = try desk.line.answer(read)
    try eventually("the second late token is revoked") {
      try desk.issued().count { $0["revoked"] == true } == 2
    }
  }

  // MARK: G16

  @Test("Clearing the storage forgets the user, or only what apps have stored", arguments: [true, false])
  func G16_clearingTheStorage(_ forgets: Bool) throws {
    let desk = try InAppDesk()
    try desk.signIn()
    let token = try desk.token()["token"]
    let epoch = try desk.open()["storageEpoch"] ?? .null
    _ = try desk.call("storage.put", ["key": "draft", "value": "Hello"])
    _ = try desk.call("messagingInApp.setHiddenPreChat", ["fields": ["Plan": "gold"]])
    let cleared = try desk.call("messagingInApp.clearStorage", ["clearAuthorization": .bool(forgets)])
    #expect(cleared["storageEpoch"] != epoch)
    #expect(try desk.call("storage.get", ["key": "draft"])["value"]?.isNull == true)
    let stale = try desk.failure("storage.put", ["key": "a", "value": 1, "storageEpoch": epoch])
    #expect(stale["reason"] == "epochChanged")
    let next = try desk.crashed()
    #expect(try next.call("storage.get", ["key": "draft"])["storageEpoch"] == cleared["storageEpoch"])
    if forgets {
      #expect(try next.state() == "loggedOut")
      try eventually("the token is revoked") { try next.issued().last?["revoked"] == true }
    } else {
      #expect(try next.token()["token"] == token)
      let session = try next.open()
      #expect(session["data"] == nil)
      #expect(session["endpoint"]?["lastEventId"] == nil)
      #expect(try next.types("userLoggedOut").isEmpty)
    }
  }

  // MARK: G18

  @Test("A continuation token is a token of its own, at most one each second")
  func G18_aContinuationTokenIsATokenOfItsOwn() throws {
    let desk = try InAppDesk()
    try desk.signIn()
    let own = try desk.token()
    let other = try desk.call("messagingInApp.getContinuationToken")
    #expect(other["token"] != own["token"])
    #expect(other["expiresAt"] == own["expiresAt"])
    #expect(other["http"]?["headers"]?["X-Org-Id"] == "00Dsandbox00001")
    #expect(try desk.token()["token"] == own["token"])
    #expect(try desk.failure("messagingInApp.getContinuationToken")["reason"] == "rateLimit")
  }

  @Test("A continuation that is refused renews the token and is repeated")
  func G18_aRefusedContinuationRenewsTheToken() throws {
    let desk = try InAppDesk()
    try desk.signIn()
    let own = try desk.token()["token"]
    try desk.revoke()
    let other = try desk.call("messagingInApp.getContinuationToken")
    #expect(other["token"] != own)
    #expect(try desk.token()["token"] != own)
    #expect(try desk.issued().map { $0["continuation"] } == [false, false, true])
  }

  // MARK: G19

  @Test("The last event id moves on only, and belongs to one user")
  func G19_theLastEventIdMovesOnOnly() throws {
    let desk = try InAppDesk()
    try desk.options(["lastEventId": 7])
    try desk.signIn()
    let session = try desk.open()
    #expect(session["endpoint"]?["lastEventId"] == "7")
    let epoch = session["storageEpoch"] ?? .null
    func set(_ id: String) throws {
      _ = try desk.call("messagingInApp.setLastEventId", ["lastEventId": .string(id), "storageEpoch": epoch])
    }
    try set("100")
    try set("99")
    _ = try desk.call("token.refresh")
    #expect(try desk.crashed().open()["endpoint"]?["lastEventId"] == "100")
    let next = try desk.crashed()
    try next.signIn(as: "bob")
    #expect(try next.open()["endpoint"]?["lastEventId"] == "7")
    let stale = try next.failure(
      "messagingInApp.setLastEventId", ["lastEventId": "200", "storageEpoch": epoch])
    #expect(stale["reason"] == "epochChanged")
    let words = try next.failure("messagingInApp.setLastEventId", ["lastEventId": "x", "storageEpoch": epoch])
    #expect(words["member"] == "lastEventId")
  }

  // MARK: G20 to G23

  @Test("A token comes with the headers of a request")
  func G20_aTokenComesWithTheHeadersOfARequest() throws {
    let desk = try InAppDesk()
    try desk.signIn()
    let token = try desk.call("token.get", ["http": true])
    #expect(token["tokenType"] == "accessToken")
    let headers = token["http"]?["headers"]?.objectValue
    #expect(headers?["Authorization"] == .string("Bearer \(token["token"]?.stringValue ?? "")"))
    #expect(headers?["X-Org-Id"] == "00Dsandbox00001")
    #expect(headers?.count == 2)
  }

  @Test("A session says where the vendor is, and shows hidden pre-chat until the identity is wiped")
  func G21_aSessionSaysWhereTheVendorIs() throws {
    let desk = try InAppDesk()
    try desk.signIn()
    let session = try desk.open()
    let endpoint = session["endpoint"]
    let base = try desk.desk.vendor.base("sm")
    #expect(endpoint?["baseUrl"] == .string(base))
    #expect(endpoint?["realtimeUrl"] == .string("\(base)/eventrouter/v1/sse"))
    #expect(endpoint?["appUserId"] == "v2/iamessage/AUTH/sandbox/uid:alice")
    #expect(endpoint?["clientId"]?.stringValue?.hasPrefix("v1/Sandbox_Api/") == true)
    #expect(endpoint?["apiVersion"] == "v2")
    #expect(UUID(uuidString: endpoint?["deviceId"]?.stringValue ?? "") != nil)
    #expect(session["history"] == true)
    #expect(session["mayMerge"] == false)
    #expect(session["editableFields"] == [])
    #expect(session["data"] == nil)
    #expect(try desk.crashed().open()["endpoint"]?["deviceId"] == endpoint?["deviceId"])
  }

  @Test("The user is the one whom the vendor has verified")
  func G22_theUserIsTheOneWhomTheVendorHasVerified() throws {
    let desk = try InAppDesk()
    let user = try desk.signIn()
    #expect(user["authenticationType"] == "jwt")
    #expect(user["authenticated"] == true)
    #expect(user["verified"] == true)
    try desk.options(["subject": "carol"])
    try desk.signIn()
    #expect(try desk.call("instance.currentUser")["externalId"] == "alice")
    let hints = try desk.events("userLoggedIn").last?["data"]?["hints"]?.arrayValue ?? []
    #expect(hints.contains { $0.stringValue?.contains("carol") == true })
    let token = try desk.token()["token"]
    try desk.options(["subject": .null])
    #expect(try desk.failure("token.refresh")["reason"] == "identityMismatch")
    #expect(try desk.token()["token"] == token)
  }

  @Test("Hidden pre-chat is kept for the user, within bounds")
  func G23_hiddenPreChatIsKeptForTheUser() throws {
    let desk = try InAppDesk()
    _ = try desk.call("messagingInApp.setHiddenPreChat", ["fields": ["Plan": "gold"]])
    try desk.signIn()
    #expect(try desk.open()["data"] == ["Plan": "gold"])
    #expect(try desk.crashed().open()["data"] == ["Plan": "gold"])
    let next = try desk.crashed()
    let many = JSONObject((0..<65).map { ("f\($0)", JSON.string("x")) })
    #expect(
      try next.failure("messagingInApp.setHiddenPreChat", ["fields": .object(many)])["reason"]
        == "invalidAuthParameters")
    try next.signIn(as: "bob")
    #expect(try next.open()["data"] == nil)
    _ = try next.call("messagingInApp.setHiddenPreChat", ["fields": ["Plan": "tin"]])
    _ = try next.call("messagingInApp.setHiddenPreChat", ["fields": .null])
    #expect(try next.open()["data"] == nil)
  }

  // MARK: G25, G26

  @Test("A channel that authenticates in another way is a hint")
  func G25_aChannelThatAuthenticatesInAnotherWayIsAHint() throws {
    let desk = try InAppDesk()
    let jwt = try InAppDesk.jwt()
    try desk.signIn()
    let access = try desk.token()["token"] ?? .null
    try desk.script([
      "status": 200,
      "body": [
        "accessToken": access,
        "context": [
          "configuration": ["embeddedServiceConfig": ["embeddedServiceMessagingChannel": ["authMode": "UnAuth"]]]
        ],
      ],
    ])
    try desk.signIn(jwt)
    let hints = try desk.events("userLoggedIn").last?["data"]?["hints"]?.arrayValue ?? []
    #expect(hints.contains { $0.stringValue?.hasPrefix("user_verification:") == true })
    let found = try desk.desk.sdkctl("doctor", "-o", "json").output
    #expect(found.contains("desk: the last login has the hint user_verification: "))
  }

  @Test("A captcha is not supported, and the vendor's message says so")
  func G26_aCaptchaIsNotSupported() throws {
    let desk = try InAppDesk()
    try desk.script(["status": 400, "body": ["message": "captchaToken is required"]])
    let error = try desk.failure("messagingInApp.setIdentityToken", ["identityToken": .string(try InAppDesk.jwt())])
    #expect(error["reason"] == "forbidden")
    #expect(error["vendorDescription"] == "captchaToken is required")
    #expect(error["retryable"] == false)
  }
}
