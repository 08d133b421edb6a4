import Foundation
import JSONRPC
import Testing

/// The rows F1 to F4 of the design's table for Service Chat, through the socket, the daemon and real HTTP.
@Suite struct SalesforceRowTests {
  // MARK: F1

  @Test("Settings sign a service in without a request and survive a restart")
  func F1_settingsSignAServiceInWithoutARequestAndForARestart() throws {
    let desk = try ServiceDesk()
    let given = try desk.signIn()
    #expect(try desk.vendor.log().isEmpty)
    #expect(try desk.state() == "authenticated")
    #expect(try desk.token()["token"] == given["access_token"])
    let user = try desk.user()
    #expect(user["id"]?.stringValue == ServiceDesk.userId(given))
    #expect(user["authenticationType"] == "oauth2")
    #expect(user["authenticated"] == true)
    let shown: JSON = [
      "instanceUrl": given["instance_url"] ?? .null, "clientId": .string(ServiceDesk.demo), "hasRefreshToken": true,
    ]
    #expect(try desk.shownSettings() == shown)
    try desk.crash()
    let session = try desk.open()
    #expect(session["visible"] == true)
    #expect(session["service"] == "chat")
    #expect(session["token"]?["token"] == given["access_token"])
    #expect(session["token"]?["tokenType"] == "accessToken")
    let header = session["token"]?["http"]?["headers"]?["Authorization"]?.stringValue
    #expect(header == "Bearer \(given["access_token"]?.stringValue ?? "")")
    #expect(session["endpoint"]?["instanceUrl"] == given["instance_url"])
    #expect(try desk.shownSettings() == shown)
  }

  @Test("The next access token of the same user, without identityUrl, keeps the user's data")
  func F4_theNextAccessTokenOfTheSameUserKeepsTheData() throws {
    let desk = try ServiceDesk()
    func bare(_ user: String) throws -> JSON {
      var members = try #require(ServiceDesk.settings(try desk.grant(user), refreshable: false).objectValue)
      members["identityUrl"] = nil
      return .object(members)
    }
    try desk.set(try bare("alice"))
    // The first session learns whose token it is.
    let id = try #require(try desk.open()["user"]?["id"]?.stringValue)
    try desk.line.call("storage.put", ["instance": "desk", "key": "draft", "value": "alice's"])
    try desk.revoke("alice", "access")
    let next = try bare("alice")
    try desk.set(next)
    #expect(try desk.line.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "alice's")
    #expect(try desk.token()["token"] == next["accessToken"])
    #expect(try desk.user()["id"]?.stringValue == id)
    #expect(try desk.events("userLoggedOut", "identityWiped").isEmpty)
    // While the vendor can't say whose the token is, nothing changes.
    let unknown = try bare("bob")
    try desk.vendor.script(["route": "/services/oauth2/userinfo", "status": 503])
    #expect(
      try desk.line.failure("serviceChat.setAuthenticationSettings", desk.params("chat", ["settings": unknown])).reason
        == "serverError")
    #expect(try desk.token()["token"] == next["accessToken"])
    try desk.set(unknown)
    #expect(try desk.line.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == .null)
    #expect(try desk.events("userLoggedOut").count == 1)
  }

  private static let mistakes: [(change: JSONObject, member: String, said: String)] = [
    (["instanceUrl": .null], "settings.instanceUrl", "lack instanceUrl"),
    (["accessToken": .null], "settings.accessToken", "lack accessToken"),
    (["accessToken": ""], "settings.accessToken", "lack accessToken"),
    (["instanceUrl": .null, "accessToken": .null], "settings.instanceUrl", "instanceUrl and accessToken"),
    (["instanceUrl": "http://acme.my.salesforce.com"], "settings.instanceUrl", "https"),
    (["instanceUrl": "ftp://acme.my.salesforce.com"], "settings.instanceUrl", "https"),
    (["instanceUrl": "acme.my.salesforce.com"], "settings.instanceUrl", "URL"),
    (["instanceUrl": "https://169.254.169.254/"], "settings.instanceUrl", "link-local"),
    (["instanceUrl": "https://acme.my.salesforce.com/?x=1"], "settings.instanceUrl", "query"),
    (["communityUrl": "http://acme.my.site.com"], "settings.communityUrl", "https"),
    (["accessToken": "a b"], "settings.accessToken", "printable"),
    (["accessToken": "a\r\nX-Header: b"], "settings.accessToken", "printable"),
    (["refreshToken": "a\nb"], "settings.refreshToken", "printable"),
    (["identityUrl": "https://login.salesforce.com/alice"], "settings.identityUrl", "/id/ORG/USER"),
    (["account": ["access_token": "x"]], "settings.account", "one or the other"),
  ]

  @Test("The error for missing or invalid settings names the member, and no request is sent", arguments: mistakes)
  func F1_whatIsMissingOrWrongIsNamedAndNothingIsSent(change: JSONObject, member: String, said: String) throws {
    let desk = try ServiceDesk()
    let given = try desk.signIn()
    var settings = ServiceDesk.settings(try desk.grant("bob")).objectValue ?? [:]
    for changed in change.members { settings[changed.key] = changed.value }
    let refused = try desk.refusal(.object(settings))
    #expect(refused.code == -32020)
    #expect(refused.reason == "authenticationSettingsError")
    #expect(refused.data["member"] == .string(member))
    #expect(refused.message.contains(said), "\(refused.message)")
    #expect(try desk.vendor.log().isEmpty)
    #expect(try desk.token()["token"] == given["access_token"])
    #expect(try desk.events("settingsUpdated").count == 1)
    #expect(try desk.events("authenticationFailed").count == 1)
  }

  @Test("The error for an unknown member names the nearest known one")
  func F1_anUnknownMemberIsRefusedWithTheNearestName() throws {
    let desk = try ServiceDesk()
    let refused = try desk.refusal(["instanceUrl": "https://a.b", "acessToken": "x"])
    #expect(refused.reason == "invalidParams")
    #expect(refused.message.contains("accessToken"))
  }

  @Test("The connected app of the settings is used for refreshes")
  func F1_theConnectedAppOfTheSettingsIsTheOneThatRefreshes() throws {
    let desk = try ServiceDesk(client: "3MVG9.another")
    try desk.signIn()
    #expect(try desk.shownSettings()["clientId"] == .string(ServiceDesk.demo))
    #expect(try desk.refresh()["fromCache"] == false)
    let body = try desk.vendor.log().first?["body"]?.stringValue ?? ""
    #expect(body.contains("grant_type=refresh_token"))
    #expect(body.contains("client_id=3MVG9sandbox.demo"))
  }

  @Test("With a community, the token is refreshed at the community's URL")
  func F1_aCommunityRefreshesTheToken() throws {
    let desk = try ServiceDesk(["login_url": .null])
    let given = try desk.grant("alice", ["community": true])
    var settings = ServiceDesk.settings(given).objectValue ?? [:]
    settings["communityUrl"] = given["sfdc_community_url"]
    settings["communityId"] = given["sfdc_community_id"]
    try desk.set(.object(settings))
    #expect(try desk.refresh()["fromCache"] == false)
    let path = try desk.vendor.log().first?["path"]?.stringValue
    #expect(path?.hasSuffix("/communities/support/services/oauth2/token") == true)
    #expect(try desk.open()["endpoint"]?["baseUrl"] == given["sfdc_community_url"])
  }

  @Test("The connected app's secret is sent with a refresh, and no response or log contains it")
  func F1_theSecretOfTheConnectedAppGoesWithARefreshAndIsShownToNobody() throws {
    let secret = "sandbox-demo-secret-0004-protects-nothing"
    let desk = try ServiceDesk(client: ServiceDesk.confidential, ["client_secret": .string(secret)])
    try desk.signIn("alice", "chat", ["client_id": .string(ServiceDesk.confidential)])
    #expect(try desk.refresh()["fromCache"] == false)
    let shown = JSONWriter.text(of: try desk.line.call("instance.get", ["instance": "desk"]))
    #expect(!shown.contains(secret))
    #expect(!desk.desk.logs.contains(secret))
  }

  @Test("The connected app's secret may be in a file")
  func F1_theSecretMayBeInAFile() throws {
    let scratch = try Desk()
    let file = try scratch.write("secret", "sandbox-demo-secret-0004-protects-nothing\n", mode: 0o600)
    let desk = try ServiceDesk(client: ServiceDesk.confidential, ["client_secret_file": .string(file.path)])
    try desk.signIn("alice", "chat", ["client_id": .string(ServiceDesk.confidential)])
    #expect(try desk.refresh()["fromCache"] == false)
    // The file is read at each use. If it can't be read, the refresh fails without a request, and the user stays.
    try FileManager.default.removeItem(at: file)
    let count = try desk.vendor.log().count
    #expect(try desk.reason("token.refresh") == "invalidAuthParameters")
    #expect(try desk.vendor.log().count == count)
    #expect(try desk.state() == "authenticated")
  }

  // MARK: F2

  @Test("An account of the Mobile SDK is accepted")
  func F2_theAccountOfTheMobileSDKIsUnderstood() throws {
    let desk = try ServiceDesk(["login_url": .null])
    let given = try desk.grant("alice", ["community": true])
    try desk.set(["account": given])
    #expect(try desk.vendor.log().isEmpty)
    #expect(try desk.token()["token"] == given["access_token"])
    #expect(try desk.user()["id"]?.stringValue == ServiceDesk.userId(given))
    #expect(try desk.shownSettings()["hasRefreshToken"] == true)
    try desk.crash()
    let session = try desk.open()
    #expect(session["token"]?["token"] == given["access_token"])
    #expect(session["endpoint"]?["baseUrl"] == given["sfdc_community_url"])
    #expect(session["endpoint"]?["instanceUrl"] == given["instance_url"])
  }

  @Test("The error for an incomplete account has the Mobile SDK's names of the members")
  func F2_whatTheAccountLacksIsNamedAsTheMobileSDKDoes() throws {
    let desk = try ServiceDesk()
    let refused = try desk.refusal(["account": ["refresh_token": "x"]])
    #expect(refused.reason == "authenticationSettingsError")
    #expect(refused.message.contains("instance_url and access_token"))
    #expect(refused.data["member"] == "settings.account.instance_url")
    let wrong = try desk.refusal(["account": ["instance_url": 5, "access_token": "x"]])
    #expect(wrong.reason == "authenticationSettingsError")
    #expect(wrong.data["member"] == "settings.account.instance_url")
    #expect(try desk.state() == "noUser")
  }

  // MARK: F3

  @Test("Without settings and provider, the session opens as guest")
  func F3_withoutSettingsAndOwnerTheSessionOpensAsGuest() throws {
    let desk = try ServiceDesk()
    let session = try desk.open()
    #expect(session["visible"] == true)
    #expect(session["token"] == nil)
    #expect(session["user"]?["authenticationType"] == "unauthenticated")
    #expect(try desk.reason("token.get") == "notAuthenticated")
    #expect(try desk.shownSettings() == .null)
    #expect(try desk.vendor.log().isEmpty)
    #expect(try desk.events("authenticationFailed", "userLoggedOut").isEmpty)
  }

  @Test(
    "If the provider supplies no settings, the session opens as guest without a failure",
    arguments: ["echo '{\"authenticate\": false}'", "echo '{\"authenticate\": true}'", "exit 77"])
  func F3_whoDoesNotAuthenticateIsAGuestWithoutAFailure(script: String) throws {
    let desk = try ServiceDesk(provider: script)
    let session = try desk.open()
    #expect(session["visible"] == true)
    #expect(session["token"] == nil)
    #expect(desk.questions == ["shouldAuthenticate"])
    #expect(try desk.state() == "anonymous")
    #expect(["notAuthenticated", "providerDenied"].contains(try desk.reason("token.get")))
    #expect(try desk.events("authenticationFailed", "userLoggedOut", "identityWiped").isEmpty)
    #expect(try desk.vendor.log().isEmpty)
    try desk.crash()
    #expect(try desk.open()["visible"] == true)
    #expect(try desk.state() == "anonymous")
  }

  @Test("Settings from the provider are used and kept")
  func F3_settingsOfTheOwnerAreUsedAndKept() throws {
    let desk = try ServiceDesk(provider: "cat answer")
    let given = try desk.grant()
    try desk.writeAnswer(given)
    let session = try desk.open()
    #expect(session["token"]?["token"] == given["access_token"])
    #expect(session["user"]?["id"]?.stringValue == ServiceDesk.userId(given))
    #expect(desk.questions == ["shouldAuthenticate"])
    #expect(try desk.events("userLoggedIn").count == 1)
    #expect(try desk.token()["token"] == given["access_token"])
    try desk.crash()
    #expect(try desk.token()["token"] == given["access_token"])
    #expect(try desk.refresh()["token"] != given["access_token"])
    #expect(desk.questions == ["shouldAuthenticate"])
  }

  @Test("If the settings do not name the user, the user is fetched from the vendor")
  func F3_settingsThatNameNobodyGetTheUserFromTheVendor() throws {
    let desk = try ServiceDesk(provider: "cat answer")
    var given = try desk.grant().objectValue ?? [:]
    let id = ServiceDesk.userId(.object(given))
    given["id"] = nil
    try desk.writeAnswer(.object(given))
    #expect(try desk.open()["user"]?["id"]?.stringValue == id)
  }

  @Test("Settings from the provider work while the vendor is down")
  func F3_settingsOfTheOwnerWorkWhileTheVendorIsDown() throws {
    let desk = try ServiceDesk(provider: "cat answer")
    let given = try desk.grant()
    try desk.writeAnswer(given)
    try desk.vendor.script(["route": "/sf/**", "status": 503, "times": "forever"])
    #expect(try desk.token()["token"] == given["access_token"])
    #expect(try desk.user()["id"]?.stringValue == ServiceDesk.userId(given))
    #expect(try desk.events("networkError").count == 1)
    try desk.vendor.clearScripts()
    try desk.crash()
    #expect(try desk.refresh()["fromCache"] == false)
  }

  @Test("If the provider fails, the session fails too and does not open as guest")
  func F3_aFailingProviderIsNoAnswer() throws {
    let desk = try ServiceDesk(provider: "exit 1")
    #expect(try desk.reason("session.open") == "providerFailed")
    #expect(try desk.state() == "noUser")
    #expect(try desk.events("authenticationFailed").isEmpty)
    try desk.replaceProvider("echo '{\"authenticate\": true, \"settings\": {\"instanceUrl\": \"https://a.b\"}}'")
    let error = try desk.line.failure("token.refresh", desk.params())
    #expect(error.reason == "providerOutputInvalid")
    #expect(error.message.contains("accessToken"))
    #expect(try desk.vendor.log().isEmpty)
  }

  @Test("Refused settings are requested from the provider again, but only a few times")
  func F3_refusedSettingsOfTheOwnerAreAskedForAgainAFewTimesOnly() throws {
    let desk = try ServiceDesk(
      provider: "case $SDKD_QUESTION in shouldAuthenticate) cat answer ;; *) echo '{\"proceed\": true}' ;; esac")
    try desk.writeAnswer(try desk.grant(), refreshable: false)
    try desk.revoke()
    let session = try desk.open()
    #expect(session["token"] == nil)
    #expect(session["visible"] == true)
    #expect(
      desk.questions == [
        "shouldAuthenticate", "authenticationFailed", "shouldAuthenticate", "authenticationFailed",
        "shouldAuthenticate",
      ])
    #expect(try desk.state() == "anonymous")
    #expect(try desk.events("authenticationFailed").count == 1)
    #expect(try desk.events("userLoggedIn").isEmpty)
  }

  @Test("A refused access token from the provider is refreshed")
  func F3_aDeadAccessTokenOfTheOwnerIsRefreshed() throws {
    let desk = try ServiceDesk(client: ServiceDesk.rotating, provider: "cat answer")
    let given = try desk.grant("alice", ["client_id": .string(ServiceDesk.rotating)])
    try desk.writeAnswer(given)
    try desk.revoke("alice", "access")
    let session = try desk.open()
    #expect(session["token"]?["token"]?.stringValue != nil)
    #expect(session["token"]?["token"] != given["access_token"])
    #expect(desk.questions == ["shouldAuthenticate"])
    // The tokens from the refresh are durable.
    try desk.crash()
    #expect(try desk.refresh()["fromCache"] == false)
    #expect(try desk.grants().allSatisfy { $0["spentUses"] == 0 })
  }

  // MARK: F4

  @Test("Every accepted call emits settingsUpdated, and only another user causes a wipe")
  func F4_everyAcceptedCallTellsAndOnlyAnotherUserWipes() throws {
    let desk = try ServiceDesk()
    let first = try desk.signIn()
    try desk.line.call("storage.put", ["instance": "desk", "key": "draft", "value": "alice's"])
    try desk.set(ServiceDesk.settings(first))
    let second = try desk.signIn()
    #expect(try desk.token()["token"] == second["access_token"])
    #expect(try desk.events("settingsUpdated").map { $0["service"] } == ["chat", "chat", "chat"])
    #expect(try desk.events("identityWiped", "userLoggedOut").isEmpty)
    #expect(try desk.line.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "alice's")
    let third = try desk.signIn("bob")
    #expect(try desk.token()["token"] == third["access_token"])
    #expect(try desk.events("identityWiped").count == 1)
    #expect(try desk.events("userLoggedOut").first?["data"]?["cause"] == "switch")
    #expect(try desk.line.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == .null)
    try desk.crash()
    #expect(try desk.token()["token"] == third["access_token"])
    #expect(try desk.user()["id"]?.stringValue == ServiceDesk.userId(third))
    // Alice's session ends at the vendor; her earlier grant, which she replaced herself, does not.
    try eventually("the former user's tokens are revoked") { try !desk.revocations().isEmpty }
    #expect(try desk.revocations().first?["token"] == second["refresh_token"])
  }

  @Test func F4_theSameTokensWithoutAnIdentityAreTheSameUser() throws {
    let desk = try ServiceDesk()
    let given = try desk.signIn()
    var settings = ServiceDesk.settings(given).objectValue ?? [:]
    settings["identityUrl"] = nil
    try desk.set(.object(settings))
    #expect(try desk.user()["id"]?.stringValue == ServiceDesk.userId(given))
    #expect(try desk.events("identityWiped").isEmpty)
  }

  @Test("Null removes the settings at once and revokes the tokens in the background")
  func F4_nullForgetsAtOnceAndRevokesInTheBackground() throws {
    let desk = try ServiceDesk()
    let given = try desk.signIn()
    try desk.set(.null)
    #expect(try desk.state() == "loggedOut")
    #expect(try desk.reason("token.get") == "notAuthenticated")
    #expect(try desk.shownSettings() == .null)
    try eventually("the grant is revoked") { try desk.grants().first?["ended"]?.stringValue != nil }
    #expect(try desk.revocations().first?["token"] == given["refresh_token"])
    #expect(try desk.revocations().first?["reason"] == "user_logout")
    #expect(try desk.events("settingsUpdated").count == 2)
    #expect(try desk.events("userLoggedOut").first?["data"]?["cause"] == "explicit")
    try eventually("nothing is pending") { try pending(desk).isEmpty }
    try desk.crash()
    #expect(try desk.state() == "loggedOut")
  }

  @Test("A failed revocation is retried, even after a restart")
  func F4_aRevocationIsTriedAgainAcrossRestartsWhileTheServiceIsOut() throws {
    let desk = try ServiceDesk()
    let given = try desk.signIn()
    try desk.vendor.script(["route": "POST /services/oauth2/revoke", "status": 503, "times": "forever"])
    try desk.set(.null)
    #expect(try desk.state() == "loggedOut")
    _ = try desk.vendor.log(atLeast: 1)
    #expect(try pending(desk) == ["revoke"])
    try desk.crash()
    #expect(try desk.state() == "loggedOut")
    #expect(try pending(desk) == ["revoke"])
    let shown = JSONWriter.text(of: try desk.line.call("instance.get", ["instance": "desk"]))
    #expect(!shown.contains(given["refresh_token"]?.stringValue ?? "-"))
    try desk.vendor.clearScripts()
    try eventually("the grant is revoked", within: 60) { try desk.grants().first?["ended"]?.stringValue != nil }
    try eventually("nothing is pending") { try pending(desk).isEmpty }
  }

  @Test("Null is accepted for a guest and changes no other service")
  func F4_nullIsFineForAGuestAndTouchesNothingElse() throws {
    let desk = try ServiceDesk(provider: "echo '{\"authenticate\": false}'")
    let other = try desk.signIn("bob", "cases")
    try desk.line.call("storage.put", ["instance": "desk", "key": "draft", "value": "bob's"])
    _ = try desk.open()
    #expect(try desk.state() == "anonymous")
    try desk.set(.null)
    try desk.set(.null, "knowledge")
    #expect(try desk.state() == "loggedOut")
    #expect(
      try desk.events("settingsUpdated").compactMap { $0["service"]?.stringValue } == ["cases", "chat", "knowledge"])
    #expect(try desk.events("identityWiped", "userLoggedOut").isEmpty)
    #expect(try desk.vendor.log().isEmpty)
    #expect(try desk.token("cases")["token"] == other["access_token"])
    #expect(try desk.line.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "bob's")
  }

  @Test("A refresh that null supersedes leaves no token behind")
  func F4_aRefreshThatNullOvertakesLeavesNoTokenBehind() throws {
    let desk = try ServiceDesk(client: ServiceDesk.rotating)
    try desk.signIn("alice", "chat", ["client_id": .string(ServiceDesk.rotating)])
    try desk.scriptTokens(["passThrough": true, "delayMs": 600])
    let call = desk.line.begin("token.refresh", desk.params())
    _ = try desk.vendor.log(atLeast: 1)
    try desk.set(.null)
    #expect(try desk.line.answer(call)["error"]?["data"]?["reason"] == "superseded")
    #expect(try desk.state() == "loggedOut")
    // The refresh token that the late answer brought is revoked as well.
    try eventually("the grant has ended") { try desk.grants().first?["ended"]?.stringValue != nil }
    #expect(try desk.reason("token.get") == "notAuthenticated")
  }

  private func pending(_ desk: ServiceDesk) throws -> [String] {
    (try desk.line.call("instance.get", ["instance": "desk"])["pending"]?.arrayValue ?? [])
      .compactMap { $0["purpose"]?.stringValue }
  }
}
