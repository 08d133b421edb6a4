import Foundation
import JSONRPC
import Testing

/// The rows G1 to G6 of the design's table for Messaging for In-App and Web, through the socket, the daemon and real
/// HTTP.
@Suite struct SalesforceMessagingRowTests {
  // MARK: G1

  @Test("The deployment's configuration file takes the place of three settings")
  func G1_theConfigurationFileTakesThePlaceOfThreeSettings() throws {
    let desk = try InAppDesk()
    let configuration: JSONObject = [
      "Url": .string(try desk.desk.vendor.base("sm")), "OrganizationId": "00Dsandbox00001AAA",
      "DeveloperName": "Sandbox_Api",
    ]
    // A URL of this machine must be a setting of its own.
    let none: JSONObject = ["org_id": .null, "developer_name": .null]
    try desk.create("file", settings: none.merged(with: ["configuration": .object(configuration)]))
    try desk.line.call(
      "messagingInApp.setIdentityToken", ["instance": "file", "identityToken": .string(try InAppDesk.jwt())])
    let session = try desk.line.call("session.open", ["instance": "file"])
    #expect(session["endpoint"]?["orgId"] == "00Dsandbox00001")
    #expect(session["endpoint"]?["appId"] == "Sandbox_Api")
    let body = try desk.desk.vendor.log().last { $0["method"] == "POST" }?["body"]?.stringValue ?? ""
    #expect(try JSONParser.parse(body)["orgId"] == "00Dsandbox00001AAA")
    for missing in ["OrganizationId", "DeveloperName"] {
      let part = JSONObject(configuration.members.filter { $0.key != missing }.map { ($0.key, $0.value) })
      let id = desk.line.begin(
        "instance.create",
        [
          "instance": "half", "kind": "salesforce.messaging",
          "settings": ["base_url": .string(try desk.desk.vendor.base("sm")), "configuration": .object(part)],
        ])
      let error = try desk.line.answer(id)["error"]
      #expect(error?["data"]?["member"] == .string("settings.configuration.\(missing)"))
    }
  }

  @Test("Another deployment is another identity", arguments: ["developer_name", "org_id"])
  func G1_anotherDeploymentIsAnotherIdentity(_ setting: String) throws {
    let desk = try InAppDesk()
    try desk.signIn()
    let value: JSON = setting == "org_id" ? "00Dsandbox00009" : "Sandbox_Guests"
    try desk.line.call("instance.update", ["instance": "desk", "settings": [setting: value]])
    #expect(try desk.call("instance.currentUser")["id"] == nil)
    #expect(try desk.types("identityWiped") == ["identityWiped"])
  }

  // MARK: G2

  @Test("The first user is signed in through the bridge when a call needs one")
  func G2_theFirstUserIsSignedInThroughTheBridge() throws {
    let desk = try InAppDesk(script: InAppDesk.minting)
    #expect(try desk.state() == "noUser")
    let session = try desk.open()
    #expect(session["visible"] == true)
    #expect(session["user"]?["externalId"] == "alice")
    #expect(desk.asked().map { $0["question"] } == ["getToken"])
    #expect(try desk.types("userLoggedIn", "authenticationFailed") == ["userLoggedIn"])
    #expect(try desk.exchanges() == 1)
    let next = try desk.crashed()
    #expect(try next.token()["token"] == session["token"]?["token"])
    #expect(try next.exchanges() == 1)
    _ = try next.call("messagingInApp.revokeToken")
    #expect(try next.state() == "loggedOut")
    #expect(try next.token()["tokenType"] == "accessToken")
    #expect(try next.types("userLoggedIn").count == 2)
  }

  @Test("Without a provider, or with a denial, nobody is signed in and nobody becomes a guest")
  func G2_withoutAnAnswerNobodyIsSignedIn() throws {
    let desk = try InAppDesk()
    #expect(try desk.open()["reason"] == "notAuthenticated")
    #expect(try desk.failure("token.get")["reason"] == "notAuthenticated")
    let denied = try InAppDesk(settings: ["refresh": ["min_interval": 60]], script: "exit 77")
    #expect(try denied.failure("token.get")["reason"] == "providerDenied")
    #expect(try denied.failure("token.get")["reason"] == "notAuthenticated")
    #expect(denied.asked().count == 1)
    let explicit = try InAppDesk(settings: ["sign_in": "explicit"], script: InAppDesk.minting)
    #expect(try explicit.failure("token.get")["reason"] == "notAuthenticated")
    for desk in [desk, denied, explicit] {
      #expect(try desk.state() == "noUser")
      #expect(try desk.desk.vendor.log().isEmpty)
    }
    #expect(explicit.asked().isEmpty)
  }

  // MARK: G3

  @Test("A JWT is exchanged once, and the same one again costs no request")
  func G3_aJWTIsExchangedOnce() throws {
    let desk = try InAppDesk()
    let jwt = try InAppDesk.jwt()
    let user = try desk.signIn(jwt)
    #expect(user["externalId"] == "alice")
    #expect(user["id"] == "v2/iamessage/AUTH/sandbox/uid:alice")
    try desk.signIn(jwt)
    #expect(try desk.exchanges() == 1)
    let token = try desk.token()["token"]
    try desk.signIn()
    #expect(try desk.exchanges() == 2)
    #expect(try desk.token()["token"] != token)
    #expect(try desk.types("userLoggedIn", "userLoggedOut", "identityWiped") == ["userLoggedIn", "userLoggedIn"])
    let told = JSONWriter.text(of: .array(try desk.events())) + desk.desk.logs
    for secret in [jwt, token?.stringValue ?? jwt] { #expect(!told.contains(secret)) }
  }

  @Test("A JWT that can't be right costs no request")
  func G3_aJWTThatCantBeRightCostsNoRequest() throws {
    let desk = try InAppDesk()
    for (jwt, reason) in [
      ("not.a.jwt", "failedToDecodeJWT"), (try InAppDesk.jwt(ttl: -5), "expiredJWT"),
      (try InAppDesk.jwt(ttl: nil), "invalidJWTClaims"), (try Vendor.mint("alice"), "invalidJWTClaims"),
    ] {
      let error = try desk.failure("messagingInApp.setIdentityToken", ["identityToken": .string(jwt)])
      #expect(error["reason"] == .string(reason))
    }
    #expect(try desk.desk.vendor.log().isEmpty)
  }

  @Test("A refused JWT keeps the former user, and asks nobody")
  func G3_aRefusedJWTKeepsTheFormerUser() throws {
    let desk = try InAppDesk(script: InAppDesk.minting)
    try desk.signIn()
    let token = try desk.token()
    let forged = try InAppDesk.jwt("bob", ttl: 3600, ["--iss", "https://elsewhere.example"])
    let error = try desk.failure("messagingInApp.setIdentityToken", ["identityToken": .string(forged)])
    #expect(error["reason"] == "invalidAuth")
    #expect(error["httpStatus"] == 401)
    #expect(try desk.token()["token"] == token["token"])
    #expect(try desk.types("authenticationFailed", "identityWiped") == ["authenticationFailed"])
    #expect(desk.asked().isEmpty)
  }

  // MARK: G4

  @Test("What the vendor would not explain is a hint, or refused")
  func G4_whatTheVendorWouldNotExplainIsAHint() throws {
    let desk = try InAppDesk(settings: ["identity_issuer": "https://other.example"])
    try desk.signIn()
    let hints = try desk.events("userLoggedIn").last?["data"]?["hints"]?.arrayValue ?? []
    #expect(hints.contains { $0.stringValue?.hasPrefix("iss:") == true })
    let strict = try InAppDesk(settings: ["identity_issuer": "https://other.example", "strict_jwt": true])
    let error = try strict.failure(
      "messagingInApp.setIdentityToken", ["identityToken": .string(try InAppDesk.jwt())])
    #expect(error["reason"] == "invalidJWTClaims")
    #expect(try strict.desk.vendor.log().isEmpty)
  }

  // MARK: G5

  @Test("A guest's token for a user's JWT is never handed out, and makes one exchange")
  func G5_aGuestsTokenIsNeverHandedOut() throws {
    let desk = try InAppDesk(script: InAppDesk.minting)
    try desk.options(["guest": true])
    let error = try desk.failure("token.get")
    #expect(error["reason"] == "invalidAuth")
    #expect(error["hints"]?.arrayValue?.contains { $0.stringValue?.hasPrefix("keyset:") == true } == true)
    #expect(try desk.exchanges() == 1)
    #expect(desk.asked().count == 1)
    #expect(try desk.revokes() == 1)
    #expect(try desk.state() == "noUser")
    let explicit = try desk.failure(
      "messagingInApp.setIdentityToken", ["identityToken": .string(try InAppDesk.jwt())])
    #expect(explicit["reason"] == "invalidAuth")
    #expect(try desk.exchanges() == 2)
    let guests = try desk.issued().compactMap { $0["accessToken"]?.stringValue }
    let told = JSONWriter.text(of: .array(try desk.events())) + desk.desk.logs
    for guest in guests { #expect(!told.contains(guest)) }
    try desk.options(["guest": false])
    #expect(try desk.token()["tokenType"] == "accessToken")
  }

  @Test("A guest's token in a renewal does not replace the user's, and asks nobody again")
  func G5_aGuestsTokenInARenewalIsNotUsed() throws {
    let desk = try InAppDesk(settings: ["keep_identity_token": false], script: InAppDesk.minting)
    try desk.signIn()
    try desk.options(["guest": true])
    try desk.revoke()
    try desk.reject()
    #expect(try desk.open()["visible"] == false)
    #expect(desk.asked().count <= 2)
    #expect(try desk.state() == "reauthNeeded")
    #expect(try desk.call("instance.currentUser")["externalId"] == "alice")
    #expect(try desk.types("userLoggedOut", "identityWiped").isEmpty)
  }

  @Test("A guest's token is used if the settings say so")
  func G5_aGuestsTokenIsUsedIfTheSettingsSaySo() throws {
    let desk = try InAppDesk(settings: ["accept_guest_subject": true])
    try desk.options(["guest": true])
    let user = try desk.signIn()
    #expect(user["verified"] == false)
    #expect(user["externalId"] == "alice")
    let hints = try desk.events("userLoggedIn").last?["data"]?["hints"]?.arrayValue ?? []
    #expect(hints.contains { $0.stringValue?.hasPrefix("sub:") == true })
  }

  // MARK: G6

  @Test("Another user's JWT is a switch: wiped, then signed in, then the former token is revoked")
  func G6_anotherUsersJWTIsASwitch() throws {
    let desk = try InAppDesk()
    try desk.signIn()
    let former = try desk.token()["token"]?.stringValue
    _ = try desk.call("storage.put", ["key": "draft", "value": "Hello"])
    try desk.signIn(as: "bob")
    #expect(try desk.call("storage.get", ["key": "draft"])["value"]?.isNull == true)
    #expect(
      try desk.types("userLoggedIn", "userLoggedOut", "identityWiped") == [
        "userLoggedIn", "userLoggedOut", "identityWiped", "userLoggedIn",
      ])
    try eventually("the former token is revoked") {
      try desk.issued().first { $0["accessToken"]?.stringValue == former }?["revoked"] == true
    }
    #expect(try desk.issued().last?["revoked"] == false)
    #expect(try desk.token()["token"]?.stringValue != former)
  }

  @Test("The bridge never switches users")
  func G6_theBridgeNeverSwitchesUsers() throws {
    let desk = try InAppDesk(settings: ["keep_identity_token": false], script: "exec \(InAppDesk.mint) --sub bob")
    try desk.signIn()
    let error = try desk.failure("token.refresh")
    #expect(error["reason"] == "providerTokenForOtherUser")
    #expect(try desk.call("instance.currentUser")["externalId"] == "alice")
    #expect(try desk.exchanges() == 1)
  }
}
