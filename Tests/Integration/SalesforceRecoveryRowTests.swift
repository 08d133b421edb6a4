import Foundation
import Glibc
import JSONRPC
import Testing

/// The rows F5 to F7 of the design's table for Service Chat, through the socket, the daemon and real HTTP.
@Suite struct SalesforceRecoveryRowTests {
  private static let proceed =
    "case $SDKD_QUESTION in shouldAuthenticate) cat answer ;; *) echo '{\"proceed\": true}' ;; esac"

  private func rotating(_ settings: JSONObject = [:], provider: String? = nil) throws -> (ServiceDesk, JSON) {
    let desk = try ServiceDesk(client: ServiceDesk.rotating, settings, provider: provider)
    return (desk, try desk.signIn("alice", "chat", ["client_id": .string(ServiceDesk.rotating)]))
  }

  // MARK: F5, the refresh token

  @Test("A refused token is refreshed once, and no failure is reported")
  func F5_aRefusedTokenIsRefreshedOnceAndNobodyHearsOfAFailure() throws {
    let (desk, given) = try rotating()
    try desk.revoke("alice", "access")
    let session = try desk.open()
    #expect(session["visible"] == true)
    #expect(session["token"]?["token"] != given["access_token"])
    #expect(session["user"]?["id"]?.stringValue == ServiceDesk.userId(given))
    #expect(try desk.refreshes() == 1)
    #expect(try desk.events("tokenRefreshed").count == 1)
    #expect(try desk.events("authenticationFailed", "userLoggedOut", "refreshFailed").isEmpty)
    try desk.crash()
    #expect(try desk.token()["token"] == session["token"]?["token"])
    #expect(try desk.refresh()["fromCache"] == false)
    #expect(try desk.grants().first?["spentUses"] == 0)
  }

  @Test("Fifty concurrent sessions share one refresh")
  func F5_manyWhoWaitShareOneRefresh() throws {
    let (desk, _) = try rotating()
    try desk.revoke("alice", "access")
    try desk.scriptTokens(["passThrough": true, "delayMs": 300])
    let calls = (0..<50).map { _ in desk.line.begin("session.open", desk.params()) }
    let tokens = try calls.map { try desk.line.answer($0)["result"]?["token"]?["token"]?.stringValue }
    #expect(Set(tokens).count == 1)
    #expect(tokens.first != nil)
    #expect(try desk.refreshes() == 1)
    #expect(try desk.events("tokenRefreshed").count == 1)
  }

  @Test("A rotated token is durable before the new access token is issued")
  func F5_aRotatedTokenIsDurableBeforeAnybodyGetsTheNewOne() throws {
    let (desk, _) = try rotating()
    for _ in 0..<3 {
      let fresh = try desk.refresh()
      try desk.crash()
      #expect(try desk.token()["token"] == fresh["token"])
    }
    let grant = try desk.grants().first
    #expect(grant?["refreshes"] == 3)
    #expect(grant?["spentUses"] == 0)
  }

  @Test("A new instance URL in the response of a refresh is used from then on")
  func F5_anInstanceThatMovedIsFollowed() throws {
    let (desk, given) = try rotating(["login_url": .null])
    try desk.vendor.request("POST", "/_options", ["sdk": "sf", "instance": "na42"])
    _ = try desk.refresh()
    let url = (given["instance_url"]?.stringValue ?? "") + "/instances/na42"
    #expect(try desk.shownSettings()["instanceUrl"] == .string(url))
    try desk.crash()
    #expect(try desk.open()["endpoint"]?["instanceUrl"] == .string(url))
    #expect(try desk.refresh()["fromCache"] == false)
  }

  @Test("Refreshes go to the configured login URL")
  func F5_refreshesGoToTheLoginURLThatIsSet() throws {
    let desk = try ServiceDesk()
    let given = try desk.signIn()
    let login = (given["instance_url"]?.stringValue ?? "") + "/communities/login/"
    try desk.line.call("instance.update", ["instance": "desk", "settings": ["login_url": .string(login)]])
    #expect(try desk.refresh()["fromCache"] == false)
    let path = try desk.vendor.log().first?["path"]?.stringValue ?? ""
    #expect(path.hasSuffix("/communities/login/services/oauth2/token"))
  }

  @Test("Two reports of the same token by the app cause one refresh")
  func F5_aReportOfTheAppIsFollowedByOneRefresh() throws {
    let (desk, given) = try rotating()
    let token = try desk.token()
    let params = desk.params(
      "chat", ["tokenId": token["tokenId"] ?? .null, "status": 401, "code": "INVALID_SESSION_ID"])
    try desk.line.call("token.reject", params)
    try desk.line.call("token.reject", params)
    let next = try desk.token()
    #expect(next["token"] != given["access_token"])
    #expect(try desk.refreshes() == 1)
    #expect(try desk.events("authenticationFailed").isEmpty)
  }

  @Test("Without a refresh token, a report by the app is first verified at the vendor")
  func F5_aReportWithoutARefreshTokenIsLookedAtFirst() throws {
    let desk = try ServiceDesk(provider: Self.proceed)
    let given = try desk.signIn("alice", "chat", refreshable: false)
    let id = try desk.token()["tokenId"] ?? .null
    // A 403 with another code refuses the requested action, not the token.
    try desk.vendor.script(
      [
        "route": "GET /services/oauth2/userinfo", "status": 403,
        "body": [["errorCode": "API_DISABLED_FOR_ORG", "message": "no"]],
      ])
    try desk.line.call("token.reject", desk.params("chat", ["tokenId": id]))
    #expect(try desk.token()["token"] == given["access_token"])
    #expect(desk.questions.isEmpty)
    #expect(try desk.state() == "authenticated")
  }

  // MARK: F5, the owner

  @Test(
    "If the provider does not consent, the service continues as guest",
    arguments: ["", "echo '{\"proceed\": false}'", "exit 77"])
  func F5_withoutAYesTheServiceGoesOnAsGuest(provider: String) throws {
    let (desk, given) = try rotating(provider: provider.isEmpty ? nil : provider)
    try desk.line.call("storage.put", ["instance": "desk", "key": "draft", "value": "alice's"])
    try desk.revoke()
    let session = try desk.open()
    #expect(session["visible"] == true)
    #expect(session["token"] == nil)
    #expect(session["user"]?["authenticated"] == false)
    #expect(try desk.state() == "anonymous")
    #expect(try desk.shownSettings() == .null)
    #expect(try desk.line.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == .null)
    let failures = try desk.events("authenticationFailed")
    #expect(failures.count == 1)
    #expect(failures.first?["data"]?["reason"] == "invalidGrant")
    let out = try desk.events("userLoggedOut")
    #expect(out.map { $0["data"]?["cause"] } == ["guest"])
    #expect(out.first?["data"]?["user"]?["id"]?.stringValue == ServiceDesk.userId(given))
    #expect(desk.questions.first == (provider.isEmpty ? nil : "authenticationFailed"))
    try desk.crash()
    #expect(try desk.state() == "anonymous")
    #expect(try desk.shownSettings() == .null)
  }

  @Test("If the provider consents, it is asked for settings again")
  func F5_withAYesTheOwnerIsAskedForSettingsAgain() throws {
    let (desk, _) = try rotating(provider: Self.proceed)
    try desk.revoke()
    let next = try desk.grant("alice", ["client_id": .string(ServiceDesk.rotating)])
    try desk.writeAnswer(next)
    let session = try desk.open()
    #expect(session["token"]?["token"] == next["access_token"])
    #expect(desk.questions == ["authenticationFailed", "shouldAuthenticate"])
    #expect(try desk.events("authenticationFailed").count == 1)
    #expect(try desk.events("userLoggedOut", "identityWiped").isEmpty)
    try desk.crash()
    #expect(try desk.token()["token"] == next["access_token"])
    #expect(try desk.refresh()["fromCache"] == false)
  }

  @Test("Without a refresh token, the provider is asked at once")
  func F5_withoutARefreshTokenTheOwnerIsAskedAtOnce() throws {
    let desk = try ServiceDesk(provider: Self.proceed)
    try desk.signIn("alice", "chat", refreshable: false)
    try desk.revoke()
    let next = try desk.grant()
    try desk.writeAnswer(next)
    #expect(try desk.open()["token"]?["token"] == next["access_token"])
    #expect(try desk.refreshes() == 0)
    #expect(desk.questions == ["authenticationFailed", "shouldAuthenticate"])
  }

  @Test("A provider that always consents is asked at most three times")
  func F5_anOwnerWhoAlwaysSaysYesIsNotAskedForEver() throws {
    let (desk, _) = try rotating(provider: Self.proceed)
    try desk.writeAnswer(try desk.grant(), refreshable: false)
    try desk.revoke()
    #expect(try desk.open()["token"] == nil)
    #expect(try desk.state() == "anonymous")
    #expect(desk.questions.count { $0 == "authenticationFailed" } == 3)
    #expect(desk.questions.count { $0 == "shouldAuthenticate" } == 3)
    #expect(try desk.events("authenticationFailed").count == 1)
  }

  @Test("If the provider fails, the user stays in reauthNeeded")
  func F5_aFailingProviderIsNoAnswerAndTheUserStays() throws {
    let (desk, given) = try rotating(provider: "exit 1")
    try desk.revoke()
    let session = try desk.open()
    #expect(session["visible"] == false)
    #expect(session["reason"] == "reauthNeeded")
    #expect(try desk.state() == "reauthNeeded")
    #expect(try desk.user()["id"]?.stringValue == ServiceDesk.userId(given))
    _ = try? desk.token()
    try desk.crash()
    #expect(try desk.state() == "reauthNeeded")
    // The refused refresh token is not sent again, and the failure emits no second event.
    #expect(["providerFailed", "providerBackoff", "reauthNeeded"].contains(try desk.reason("token.refresh")))
    #expect(try desk.refreshes() == 1)
    #expect(try desk.events("authenticationFailed").count == 1)
    let next = try desk.grant("alice", ["client_id": .string(ServiceDesk.rotating)])
    try desk.writeAnswer(next)
    try desk.replaceProvider(Self.proceed)
    #expect(try desk.refresh()["token"] == next["access_token"])
    #expect(Array(desk.questions.suffix(2)) == ["authenticationFailed", "shouldAuthenticate"])
    #expect(try desk.state() == "authenticated")
  }

  /// Owners that only fail: the provider's script, or `nil` for a delegate that never answers.
  private static let failingOwners: [String?] = [
    "exit 1", "echo null", "echo '{\"proceed\": 1}'",
    "[ $SDKD_QUESTION = shouldAuthenticate ] && exit 1; echo '{\"proceed\": true}'",
    "[ $SDKD_QUESTION = shouldAuthenticate ] && exit 0; echo '{\"proceed\": true}'", nil,
  ]

  @Test("An owner that only fails never signs the user out, however often it is asked", arguments: failingOwners)
  func F5_anOwnerThatOnlyFailsSignsNobodyOut(provider: String?) throws {
    let (desk, given) = try rotating(provider: provider)
    try desk.line.call("storage.put", ["instance": "desk", "key": "draft", "value": "alice's"])
    let delegate = try desk.desk.connect()
    if provider == nil {
      try delegate.call("delegate.attach", ["instances": ["desk"], "timeout": 0.2])
    }
    try desk.revoke()
    for _ in 0..<6 {
      // A refresh by a caller with the control role does not wait for the breaker.
      let reason = try desk.reason("token.refresh")
      #expect(["providerFailed", "providerOutputInvalid", "providerTimeout"].contains(reason))
    }
    #expect(try desk.state() == "reauthNeeded")
    #expect(try desk.user()["id"]?.stringValue == ServiceDesk.userId(given))
    #expect(try desk.line.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "alice's")
    #expect(try desk.events("userLoggedOut", "identityWiped").isEmpty)
    #expect(try desk.events("authenticationFailed").count == 1)
  }

  @Test(arguments: [true, false])
  func F5_settingsOfAnotherUserAreRefused(isNamed: Bool) throws {
    let (desk, given) = try rotating(provider: Self.proceed)
    try desk.revoke()
    var other = try desk.grant("bob", ["client_id": .string(ServiceDesk.rotating)]).objectValue ?? [:]
    if !isNamed { other["id"] = nil }
    try desk.writeAnswer(.object(other))
    let session = try desk.open()
    #expect(session["reason"] == "reauthNeeded")
    #expect(try desk.user()["id"]?.stringValue == ServiceDesk.userId(given))
    #expect(
      try desk.line.call("instance.get", ["instance": "desk"])["lastError"]?["reason"] == "providerTokenForOtherUser")
    #expect(try desk.events("userLoggedOut", "identityWiped").isEmpty)
  }

  // MARK: F5, what is no refusal

  @Test(
    "A configuration error keeps everything and does not run the provider",
    arguments: [
      ("invalid_client_id", "invalidClient"), ("invalid_client", "invalidClient"),
      ("unsupported_grant_type", "invalidClient"), ("invalid_request", "invalidClient"), ("inactive_user", "forbidden"),
      ("inactive_org", "forbidden"),
    ])
  func F5_aWrongConfigurationAsksNobodyAndKeepsEverything(code: String, reason: String) throws {
    let (desk, given) = try rotating(provider: Self.proceed)
    try desk.revoke("alice", "access")
    try desk.scriptTokens(
      ["status": 400, "body": ["error": .string(code), "error_description": "no"], "times": "forever"])
    #expect(try desk.open()["reason"] == "reauthNeeded")
    let error = try desk.line.failure("token.refresh", desk.params())
    #expect(error.code == -32021)
    #expect(error.reason == reason)
    #expect(error.data["vendorCode"] == .string(code))
    #expect(desk.questions.isEmpty)
    #expect(try desk.user()["id"]?.stringValue == ServiceDesk.userId(given))
    #expect(try desk.events("userLoggedOut").isEmpty)
    try desk.vendor.clearScripts()
    try desk.crash()
    #expect(try desk.open()["visible"] == true)
    #expect(try desk.state() == "authenticated")
  }

  private static let outages: [(script: JSONObject, reason: String)] = [
    (["status": 503], "serverError"), (["status": 429], "rateLimited"), (["status": 500, "body": ""], "serverError"),
    (["status": 400, "body": ["error": "rate_limit_exceeded"]], "rateLimited"),
    (["status": 400, "body": "<html>no</html>", "contentType": "text/html"], "badResponse"),
    (["status": 200, "body": ""], "badResponse"),
    (["status": 200, "body": "<html>yes</html>"], "badResponse"),
    (["status": 200, "body": ["ok": true]], "badResponse"),
    (["status": 302, "headers": ["Location": "https://example.com/"]], "badResponse"), (["hang": true], "timeout"),
  ]

  @Test(arguments: outages)
  func F5_anOutageOfTheTokenServiceLosesNothing(script: JSONObject, reason: String) throws {
    let (desk, given) = try rotating(["timeout": "700ms"], provider: Self.proceed)
    try desk.revoke("alice", "access")
    try desk.scriptTokens(script.merged(with: ["times": "forever"]))
    let session = try desk.open()
    #expect(session["visible"] == false)
    let error = try desk.line.failure("token.refresh", desk.params())
    #expect(error.code == -32030)
    #expect(error.reason == reason)
    #expect(error.isRetryable == (script["status"] != 302))
    #expect(desk.questions.isEmpty)
    #expect(try desk.user()["id"]?.stringValue == ServiceDesk.userId(given))
    #expect(try desk.events("networkError").count == 1)
    #expect(try desk.events("authenticationFailed", "userLoggedOut").isEmpty)
    try desk.vendor.clearScripts()
    try desk.crash()
    #expect(try desk.refresh()["fromCache"] == false)
    #expect(try desk.open()["visible"] == true)
  }

  @Test("A token that is still valid is served when a refresh fails")
  func F5_aLivingTokenIsServedWhenARefreshFails() throws {
    let (desk, given) = try rotating()
    try desk.scriptTokens(["status": 503, "times": "forever"])
    #expect(try desk.reason("token.refresh") == "serverError")
    #expect(try desk.token()["token"] == given["access_token"])
    #expect(try desk.state() == "authenticated")
  }

  // MARK: F5, a rotated token that is lost

  @Test("A kill between rotation and commit is detected at the next start")
  func F5_aKillBetweenRotationAndCommitIsSeenAtTheNextStart() throws {
    let (desk, given) = try rotating()
    try desk.scriptTokens(["passThrough": true, "hang": true])
    desk.line.begin("token.refresh", desk.params())
    try eventually("the vendor has rotated the token") { try desk.grants().first?["refreshes"] == 1 }
    try desk.crash()
    try eventually("the old token was tried once") { try desk.grants().first?["spentUses"] == 1 }
    try eventually("the service asks to sign in") { try desk.state() == "reauthNeeded" }
    #expect(try desk.user()["id"]?.stringValue == ServiceDesk.userId(given))
    #expect(try desk.events("authenticationFailed").map { $0["data"]?["reason"] } == ["rotationInterrupted"])
    #expect(try desk.line.call("instance.get", ["instance": "desk"])["lastError"]?["reason"] == "rotationInterrupted")
    #expect(try desk.reason("token.get") == "reauthNeeded")
    #expect(try desk.open()["reason"] == "reauthNeeded")
    try desk.crash()
    #expect(try desk.state() == "reauthNeeded")
    #expect(try desk.grants().first?["spentUses"] == 1)
    #expect(try desk.events("userLoggedOut").isEmpty)
  }

  @Test("After a kill during a rotation, the provider is asked")
  func F5_afterAKillInARotationTheOwnerIsAsked() throws {
    let (desk, _) = try rotating(provider: Self.proceed)
    try desk.scriptTokens(["passThrough": true, "hang": true])
    desk.line.begin("token.refresh", desk.params())
    try eventually("the vendor has rotated the token") { try desk.grants().first?["refreshes"] == 1 }
    let next = try desk.grant("alice", ["client_id": .string(ServiceDesk.rotating)])
    try desk.writeAnswer(next)
    try desk.crash()
    try eventually("the owner's settings are used") { try desk.token()["token"] == next["access_token"] }
    #expect(desk.questions == ["authenticationFailed", "shouldAuthenticate"])
  }

  @Test("A kill during a refresh without rotation loses nothing")
  func F5_aKillDuringARefreshThatRotatesNothingCostsNothing() throws {
    let desk = try ServiceDesk()
    let given = try desk.signIn()
    try desk.scriptTokens(["passThrough": true, "hang": true])
    desk.line.begin("token.refresh", desk.params())
    _ = try desk.vendor.log(atLeast: 1)
    try desk.crash()
    try eventually("the token is refreshed") { try desk.token()["token"] != given["access_token"] }
    #expect(try desk.state() == "authenticated")
    #expect(try desk.events("authenticationFailed").isEmpty)
  }

  @Test("A response that is cut off after a rotation is detected at the next attempt")
  func F5_anAnswerThatIsCutAfterARotationIsNoticedAtTheNextAttempt() throws {
    let (desk, given) = try rotating()
    try desk.scriptTokens(["passThrough": true, "closeMidBody": true])
    #expect(try desk.reason("token.refresh") == "network")
    // Until then the access token is valid and served.
    #expect(try desk.token()["token"] == given["access_token"])
    try desk.crash()
    try eventually("the loss is seen") { try desk.state() == "reauthNeeded" }
    #expect(try desk.events("authenticationFailed").map { $0["data"]?["reason"] } == ["rotationInterrupted"])
    try desk.signIn("alice", "chat", ["client_id": .string(ServiceDesk.rotating)])
    #expect(try desk.state() == "authenticated")
    #expect(try desk.refresh()["fromCache"] == false)
  }

  // MARK: F6

  private func register(_ desk: ServiceDesk, _ address: String, _ service: String = "chat") throws -> String? {
    try desk.line.call(
      "serviceChat.registerForPushNotifications",
      desk.params(service, ["endpoint": ["address": .string(address), "type": "apns"]]))["id"]?.stringValue
  }

  @Test func F6_registeringAgainRemovesTheFormerDevice() throws {
    let desk = try ServiceDesk()
    try desk.signIn()
    try desk.signIn("bob", "cases")
    _ = try register(desk, "device-of-bob-00000000", "cases")
    let first = try register(desk, "device-one-00000000")
    #expect(try register(desk, "device-two-00000000") != first)
    #expect(Set(try desk.devices()) == ["device-of-bob-00000000", "device-two-00000000"])
    #expect(try desk.events("pushRegistered").count == 3)
    #expect(try desk.events("pushUnregistered").map { $0["data"]?["id"]?.stringValue } == [first])
    try desk.crash()
    let pushes = try desk.line.call("push.list", ["instance": "desk"])["pushes"]?.arrayValue ?? []
    #expect(pushes.compactMap { $0["service"]?.stringValue } == ["cases", "chat"])
    #expect(!pushes.contains { JSONWriter.text(of: $0).contains("device-two") })
    try desk.line.call("push.unregister", ["instance": "desk", "id": pushes[1]["id"] ?? .null])
    #expect(try desk.devices() == ["device-of-bob-00000000"])
  }

  @Test("A former device that can't be removed now is removed by the logout at the latest")
  func F6_aFormerDeviceThatCannotBeRemovedIsNotForgotten() throws {
    let desk = try ServiceDesk()
    try desk.signIn()
    let first = try register(desk, "device-one-00000000")
    try desk.vendor.script(
      ["route": "DELETE /services/data/*/sobjects/MobilePushServiceDevice/*", "status": 503, "times": 1])
    let second = try register(desk, "device-two-00000000")
    try desk.crash()
    let pushes = try desk.line.call("push.list", ["instance": "desk"])["pushes"]?.arrayValue ?? []
    #expect(pushes.map { $0["id"]?.stringValue } == [first, second])
    try desk.set(.null)
    try eventually("both devices are removed") { try desk.devices().isEmpty }
  }

  @Test("A refused token is refreshed, and the request is sent again")
  func F6_aDeadTokenIsRefreshedAndTheRequestSentOnceMore() throws {
    let (desk, given) = try rotating()
    try desk.revoke("alice", "access")
    _ = try register(desk, "device-one-00000000")
    #expect(try desk.devices() == ["device-one-00000000"])
    #expect(try desk.refreshes() == 1)
    #expect(try desk.token()["token"] != given["access_token"])
  }

  @Test("A token that is always refused is refreshed once")
  func F6_aTokenThatIsRefusedForEverIsRefreshedOnce() throws {
    let (desk, _) = try rotating()
    try desk.vendor.script(
      ["route": "POST /services/data/*/sobjects/MobilePushServiceDevice", "status": 401, "times": "forever"])
    let error = try desk.line.failure(
      "push.register", desk.params("chat", ["endpoint": ["address": "device-one-00000000", "type": "fcm"]]))
    #expect(error.reason == "invalidAuth")
    #expect(error.data["vendorCode"] == "INVALID_SESSION_ID")
    #expect(try desk.refreshes() == 1)
    #expect(try desk.vendor.count("POST", "/MobilePushServiceDevice") == 2)
    #expect(try desk.state() == "authenticated")
  }

  @Test("A refusal for another reason than the token causes no refresh")
  func F6_anotherRefusalThanOfTheTokenNeverRefreshes() throws {
    let (desk, given) = try rotating()
    try desk.vendor.script(["route": "POST /services/data/*/sobjects/MobilePushServiceDevice", "status": 403])
    let endpoint: JSON = ["address": "device-one-00000000", "type": "apns"]
    let error = try desk.line.failure("push.register", desk.params("chat", ["endpoint": endpoint]))
    #expect(error.reason == "forbidden")
    #expect(error.data["vendorCode"] == "API_DISABLED_FOR_ORG")
    #expect(try desk.refreshes() == 0)
    #expect(try desk.token()["token"] == given["access_token"])
    let other = try desk.line.failure(
      "push.register", desk.params("chat", ["endpoint": ["address": "device-one-00000000", "type": "other"]]))
    #expect(other.reason == "invalidAuthParameters")
  }

  @Test("A guest can't register for push")
  func F6_aGuestRegistersNothing() throws {
    let desk = try ServiceDesk()
    let endpoint: JSON = ["address": "device-one-00000000", "type": "apns"]
    let error = try desk.line.failure(
      "serviceChat.registerForPushNotifications", desk.params("chat", ["endpoint": endpoint]))
    #expect(error.reason == "notAuthenticated")
    #expect(try desk.vendor.log().isEmpty)
  }

  @Test func F6_theDeviceIsRemovedBeforeTheTokensAreRevoked() throws {
    let (desk, _) = try rotating()
    _ = try register(desk, "device-one-00000000")
    // The access token is refused by then. The refresh token still makes it possible to remove the device.
    try desk.revoke("alice", "access")
    try desk.vendor.script(["route": "DELETE /services/data/**", "status": 503, "times": 1])
    try desk.set(.null)
    try desk.crash()
    try eventually("the device is removed", within: 60) { try desk.devices().isEmpty }
    try eventually("the grant has ended", within: 60) { try desk.grants().first?["ended"]?.stringValue != nil }
    #expect(try desk.line.call("push.list", ["instance": "desk"])["pushes"] == [])
    #expect(try desk.events("pushUnregistered").count == 1)
  }

  /// Responses that fail the removal of a device or the revocation after it, once the refresh token was rotated.
  private static let lateFailures: [JSON] = [
    ["route": "POST /services/oauth2/revoke", "status": 503],
    [
      ["route": "DELETE /services/data/**", "passThrough": true], ["route": "DELETE /services/data/**", "status": 503],
    ],
    ["options": ["answer": ["access_token": "a b"]]],
  ]

  @Test("A refresh token that a cleanup delivery rotates is revoked, whatever fails after it", arguments: lateFailures)
  func F6_aTokenThatACleanupRotatesIsRevoked(failure: JSON) throws {
    let (desk, _) = try rotating()
    _ = try register(desk, "device-one-00000000")
    try desk.revoke("alice", "access")
    let options = failure["options"]
    if let options {
      try desk.vendor.request("POST", "/_options", .object(["sdk": "sf", "answer": options["answer"] ?? .null]))
    } else {
      try desk.vendor.script(failure)
    }
    try desk.set(.null)
    try eventually("an attempt has failed") {
      try desk.line.call("instance.get", ["instance": "desk"])["pending"]?.arrayValue?.first?["attempts"] == 1
    }
    #expect(try desk.refreshes() == 1)
    if options != nil { try desk.vendor.request("POST", "/_options", ["sdk": "sf", "answer": nil]) }
    try desk.crash()
    try eventually("nothing is pending", within: 60) {
      try desk.line.call("instance.get", ["instance": "desk"])["pending"]?.arrayValue?.isEmpty != false
    }
    let grant = try desk.grants().first
    #expect(grant?["ended"]?.stringValue != nil)
    #expect(grant?["spentUses"] == 0)
    #expect(try desk.devices().isEmpty)
  }

  // MARK: F7

  @Test("Each service has its own settings, token and state")
  func F7_eachServiceHasItsOwnSettingsTokenAndState() throws {
    let desk = try ServiceDesk()
    let alice = try desk.signIn()
    #expect(try desk.line.call("token.get", ["instance": "desk"])["token"] == alice["access_token"])
    #expect(try desk.reason("token.get", "cases") == "notAuthenticated")
    #expect(try desk.open("knowledge")["user"]?["authenticated"] == false)
    let bob = try desk.signIn("bob", "cases")
    let unclear = try desk.line.failure("token.get", ["instance": "desk"])
    #expect(unclear.reason == "invalidParams")
    #expect(unclear.data["member"] == "service")
    #expect(try desk.refusal(ServiceDesk.settings(alice), "case").reason == "invalidParams")
    try desk.revoke("bob")
    #expect(try desk.open("cases")["token"] == nil)
    let services: [String: String] = ["chat": "authenticated", "cases": "anonymous", "knowledge": "noUser"]
    for (service, expected) in services { #expect(try desk.state(service) == expected) }
    #expect(try desk.token()["token"] == alice["access_token"])
    try desk.crash()
    for (service, expected) in services { #expect(try desk.state(service) == expected) }
    #expect(try desk.token()["token"] == alice["access_token"])
    #expect(try desk.user("cases")["authenticated"] == false)
    #expect(try desk.events("userLoggedOut").map { $0["service"] } == ["cases"])
    #expect(try desk.refresh()["fromCache"] == false)
    let tokens = desk.desk.logs
    for grant in [alice, bob] {
      for name in ["access_token", "refresh_token"] {
        let secret = grant[name]?.stringValue ?? "-"
        #expect(!tokens.contains(secret))
        #expect(!JSONWriter.text(of: try desk.line.call("events.list", ["limit": 500])).contains(secret))
      }
    }
  }

  @Test("The recovery of one service does not delay the others")
  func F7_aRecoveryOfOneServiceDelaysNoOther() throws {
    let (desk, given) = try rotating()
    let bob = try desk.signIn("bob", "cases")
    try desk.revoke("alice", "access")
    try desk.scriptTokens(["passThrough": true, "hang": true])
    let call = desk.line.begin("session.open", desk.params())
    try eventually("the recovery is under way") { try desk.refreshes() == 1 }
    #expect(try desk.open("cases")["token"]?["token"] == bob["access_token"])
    #expect(try desk.refresh("cases")["fromCache"] == false)
    _ = try register(desk, "device-of-bob-00000000", "cases")
    try desk.set(.null, "cases")
    #expect(try desk.state("cases") == "loggedOut")
    #expect(try desk.state() == "refreshing")
    try desk.vendor.clearScripts()
    _ = try desk.line.answer(call)
    #expect(try desk.user()["id"]?.stringValue == ServiceDesk.userId(given))
  }

  @Test("The services are configurable")
  func F7_theServicesAreASetting() throws {
    let desk = try ServiceDesk(["services": ["cases"]])
    let given = try desk.signIn("alice", "cases")
    #expect(try desk.open("cases")["visible"] == true)
    #expect(try desk.line.call("session.open", ["instance": "desk"])["service"] == "cases")
    #expect(try desk.refusal(ServiceDesk.settings(given)).reason == "invalidParams")
    // A service that is removed from the settings is signed out, and its grant is revoked at the vendor.
    try desk.line.call("instance.update", ["instance": "desk", "settings": ["services": ["chat"]]])
    try eventually("the grant has ended") { try desk.grants().first?["ended"]?.stringValue != nil }
    try desk.crash()
    #expect(try desk.state() == "noUser")
    #expect(try desk.state("cases") == nil)
  }

  @Test("A change of the connected app signs all services out")
  func F7_aChangedConnectedAppIsAnotherBackend() throws {
    let desk = try ServiceDesk()
    try desk.signIn()
    try desk.signIn("bob", "cases")
    try desk.line.call(
      "instance.update", ["instance": "desk", "settings": ["client_id": .string(ServiceDesk.rotating)]])
    #expect(try desk.state() == "noUser")
    #expect(try desk.state("cases") == "noUser")
    try eventually("both grants have ended") { try desk.grants().allSatisfy { $0["ended"]?.stringValue != nil } }
    try desk.crash()
    #expect(try desk.reason("token.get") == "notAuthenticated")
  }
}
