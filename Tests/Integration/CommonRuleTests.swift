import Foundation
import Glibc
import JSONRPC
import Testing

/// The thirteen rules that all kinds share (`rows.md`, R1 to R13), each tested where it shows best.
@Suite struct CommonRuleTests {
  /// The kinds that send a request to the vendor when a user signs in.
  static let exchanging = KindSample.all.filter { $0.exchange != nil }

  private func open(_ sample: KindSample, settings: JSONObject = [:]) throws -> (Desk, Line) {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("a", sample, user: "alice", on: line, settings: settings)
    return (desk, line)
  }

  @Test("A refusal with a successful recovery causes one renewal and no failure", arguments: KindSample.all)
  func R1_aRecoveredRefusalIsOneRenewalAndNoFailure(sample: KindSample) throws {
    let (desk, line) = try open(sample)
    let token = try desk.signIn("a", sample, as: "alice", on: line)
    if sample.sdk == "sf" {
      try desk.vendor.request("POST", "/_revoke", ["sdk": "sf", "externalId": "alice", "kind": "access"])
    }
    try line.call("token.reject", ["instance": "a", "tokenId": token["tokenId"] ?? .null, "status": 401])
    let fresh = try line.call("token.get", ["instance": "a"])
    #expect(fresh["tokenId"] != token["tokenId"])
    let told = try desk.events("a", on: line, "tokenRefreshed", "refreshFailed", "authenticationFailed")
    #expect(told.map { $0["type"]?.stringValue } == ["tokenRefreshed"])
  }

  @Test("An unknown push registration is notFound, with the code of a state", arguments: KindSample.all)
  func anUnknownPushRegistrationIsNotFound(sample: KindSample) throws {
    let (desk, line) = try open(sample)
    try desk.signIn("a", sample, as: "alice", on: line)
    let error = try line.failure("push.unregister", ["instance": "a", "id": "unknown"])
    #expect(error.code == -32002)
    #expect(error.reason == "notFound")
  }

  @Test(
    "A refused login is reported once and does not run the provider", arguments: exchanging.filter { $0.sdk != "zc" })
  func R1_aRefusedLoginIsToldOnceAndNeverAsksTheBridge(sample: KindSample) throws {
    let (desk, line) = try open(sample)
    try desk.vendor.script(["route": .string(sample.exchange ?? ""), "status": 401, "times": 1])
    let (method, params) = try sample.signIn(desk.vendor, "a", "alice")
    #expect(try line.failure(method, .object(params)).code == -32021)
    #expect(desk.runs("a") == 0)
    #expect(try desk.events("a", on: line, "authenticationFailed").count == 1)
    #expect(try line.call("instance.currentUser", ["instance": "a"])["authenticated"] == false)
  }

  @Test func R2_aLoginThatSucceedsTooLateIsUndoneAtTheVendor() throws {
    let (desk, line) = try open(.messaging)
    try desk.vendor.script(["route": "POST /v2/apps/*/login", "delayMs": 1000, "passThrough": true, "times": 1])
    let (method, params) = try KindSample.messaging.signIn(desk.vendor, "a", "alice")
    let first = line.begin(method, .object(params))
    _ = try desk.vendor.log(atLeast: 1)
    try line.call("messaging.logoutUser", ["instance": "a"])
    #expect(try line.answer(first)["error"]?["data"]?["reason"] == "superseded")
    try eventually("the vendor is told to forget the login") { try desk.vendor.count("POST", "/logout") == 1 }
    #expect(try line.failure("token.get", ["instance": "a"]).reason == "notAuthenticated")
    try desk.crash()
    #expect(try desk.connect().call("instance.currentUser", ["instance": "a"])["authenticated"] == false)
  }

  @Test(arguments: KindSample.all)
  func R3_aWipeLeavesNothingOfTheFormerUserOnDisk(sample: KindSample) throws {
    let (desk, line) = try open(sample)
    let token = try desk.signIn("a", sample, as: "alice", on: line)["token"]?.stringValue ?? ""
    try line.call("storage.put", ["instance": "a", "key": "draft", "value": "alice's private draft 4711"])
    let before = try line.call("instance.get", ["instance": "a"])["storageEpoch"]
    let (method, params) = sample.signOut("a")
    try line.call(method, .object(params))
    try eventually("the user is gone") { try desk.events("a", on: line, "identityWiped").count == 1 }
    let counts = try desk.events("a", on: line, "identityWiped").first?["data"]
    #expect(counts?["storage"] == 1)
    #expect(counts?["tokens"] == 1)
    #expect(try line.call("instance.get", ["instance": "a"])["storageEpoch"] != before)
    try desk.crash()
    let next = try desk.connect()
    #expect(try next.call("storage.get", ["instance": "a", "key": "draft"])["value"] == .null)
    #expect(try next.answer(next.begin("token.get", ["instance": "a"]))["result"] == nil)
    for secret in [token, "alice's private draft 4711"] where !secret.isEmpty {
      #expect(try !Self.contains(secret, desk.state))
    }
  }

  @Test func R4_aRenewalNeverSwitchesTheUser() throws {
    for (sample, answer) in [
      (KindSample.messaging, "exec '\(KindSample.sandbox)' mint --external-id mallory"),
      (.chat, "exec '\(KindSample.sandbox)' mint --sdk chat --external-id mallory"),
    ] {
      let desk = try Desk.open()
      let line = try desk.connect()
      try desk.create("a", sample, user: "alice", on: line)
      let token = try desk.signIn("a", sample, as: "alice", on: line)
      try desk.write("provider-a", "#!/bin/sh\n\(answer)\n", mode: 0o755)
      #expect(try line.failure("token.refresh", ["instance": "a"]).reason == "providerTokenForOtherUser")
      #expect(try line.call("token.get", ["instance": "a"])["tokenId"] == token["tokenId"])
      #expect(try line.call("instance.currentUser", ["instance": "a"])["externalId"] == "alice")
    }
  }

  @Test("A provider outage keeps the user, and one call runs the provider at most once")
  func R5_aProviderOutageSignsNobodyOutAndIsNotRepeatedInOneCall() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let settings = try KindSample.messaging.settings(desk.vendor).merged(with: ["refresh": ["mode": "lazy"]])
    let provider = try desk.provider("echo run >> '\(desk.folder.path)/runs-a'; exit 1")
    try desk.create("a", kind: "zendesk.messaging", on: line, settings: settings, provider: provider)
    try line.call(
      "messaging.loginUser", ["instance": "a", "jwt": .string(try Vendor.mint("alice", ttl: Vendor.shortLife))])
    try eventually("the token has ended") {
      try line.call("instance.get", ["instance": "a"])["expiresAt"] != nil
        && line.answer(line.begin("token.get", ["instance": "a"]))["result"] == nil
    }
    #expect(desk.runs("a") == 1)
    for _ in 0..<20 { #expect(try line.answer(line.begin("token.get", ["instance": "a"]))["result"] == nil) }
    #expect(desk.runs("a") < 5)
    #expect(try desk.state(of: "a", on: line) == "reauthNeeded")
    #expect(try desk.events("a", on: line, "authenticationFailed").count == 1)
    try desk.crash()
    let next = try desk.connect()
    #expect(try desk.state(of: "a", on: next) == "reauthNeeded")
    #expect(try next.call("instance.currentUser", ["instance": "a"])["externalId"] == "alice")
  }

  @Test("A token is durable before it is issued", arguments: KindSample.all)
  func R6_aTokenIsDurableBeforeAnybodyGetsIt(sample: KindSample) throws {
    let (desk, line) = try open(sample)
    _ = try desk.signIn("a", sample, as: "alice", on: line)
    let token = try line.call("token.refresh", ["instance": "a"])
    try desk.crash()
    let next = try desk.connect()
    #expect(try next.call("token.get", ["instance": "a"])["tokenId"] == token["tokenId"])
    #expect(try desk.state(of: "a", on: next) == "authenticated")
  }

  @Test("An outage of the vendor keeps the user and does not run the provider", arguments: KindSample.all)
  func R7_anOutageOfTheVendorAsksNobodyAndLogsNobodyOut(sample: KindSample) throws {
    let (desk, line) = try open(sample, settings: ["timeout": 2])
    let token = try desk.signIn("a", sample, as: "alice", on: line)
    let runs = desk.runs("a")
    try desk.crash()
    try desk.vendor.goDown()
    // The first session after a start verifies the credential at the vendor, which returns only errors.
    let next = try desk.connect()
    let session = try next.call("session.open", ["instance": "a"])
    #expect(session["visible"] == true)
    #expect(session["token"]?["tokenId"] == token["tokenId"])
    #expect(desk.runs("a") == runs)
    #expect(try desk.events("a", on: next, "authenticationFailed", "userLoggedOut", "identityWiped").isEmpty)
    #expect(try next.call("token.get", ["instance": "a"])["tokenId"] == token["tokenId"])
  }

  @Test("A token that expires during a network failure is reported as expired")
  func R8_aBrokenNetworkIsNotBlamedForATokenThatHasExpired() throws {
    let (desk, line) = try open(.messaging, settings: ["timeout": JSON(Vendor.shortLife + 1)])
    try desk.vendor.script(["route": "POST /v2/apps/*/login", "hang": true, "times": 1])
    let failure = try line.failure(
      "messaging.loginUser", ["instance": "a", "jwt": .string(try Vendor.mint("alice", ttl: Vendor.shortLife))])
    #expect(failure.reason == "expiredJWT")
    #expect(failure.message.hasPrefix("The JWT has expired"))
  }

  @Test("A refusal that the vendor does not explain has hints")
  func R9_whatTheVendorDoesNotExplainTheHintsDo() throws {
    let (desk, line) = try open(.messaging)
    let forged = ["--secret", "not-the-secret-of-this-key-0000000000000"]
    let odd = try Vendor.mint("alice", ttl: 3600, ["--kid", "nobodys-key"] + forged)
    let failure = try line.failure("messaging.loginUser", ["instance": "a", "jwt": .string(odd)])
    #expect(failure.data["vendorDescription"] == "Invalid JWT")
    let hints = failure.data["hints"]?.arrayValue ?? []
    let event = try desk.events("a", on: line, "authenticationFailed").first
    #expect(event?["data"]?["hints"]?.arrayValue == hints)
    let near = try Vendor.mint(
      "alice", ttl: 20, ["--secret", "not-the-secret-of-this-key-0000000000000"])
    let late = try line.failure("messaging.loginUser", ["instance": "a", "jwt": .string(near)])
    #expect(late.data["hints"]?.arrayValue?.isEmpty == false)
  }

  @Test("A logout succeeds in every state; only in Chat Center it needs a user", arguments: KindSample.all)
  func R10_logoutIsValidInEveryStateAndAgain(sample: KindSample) throws {
    let (desk, line) = try open(sample)
    let (method, params) = sample.signOut("a")
    let isStrict = sample.sdk == "ed"
    // Before any login, only Chat Center's documentation requires an error for a logout.
    let early = try line.answer(line.begin(method, .object(params)))
    #expect(isStrict ? early["error"]?["data"]?["reason"] == "userNotAuthorized" : early["error"] == nil, "\(early)")
    _ = try desk.signIn("a", sample, as: "alice", on: line)
    try line.call(method, .object(params))
    #expect(try line.call("instance.currentUser", ["instance": "a"])["authenticated"] == false)
    let again = try line.answer(line.begin(method, .object(params)))
    #expect(isStrict ? again["error"] != nil : again["error"] == nil, "\(again)")
    _ = try desk.signIn("a", sample, as: "bob", on: line)
    #expect(try line.call("instance.currentUser", ["instance": "a"])["authenticated"] == true)
  }

  @Test(arguments: KindSample.all)
  func R11_anotherBackendIsAnotherIdentity(sample: KindSample) throws {
    let (desk, line) = try open(sample)
    _ = try desk.signIn("a", sample, as: "alice", on: line)
    try line.call("storage.put", ["instance": "a", "key": "draft", "value": 1])
    try line.call("instance.update", ["instance": "a", "settings": .object(sample.otherBackend)])
    #expect(try line.answer(line.begin("token.get", ["instance": "a"]))["result"] == nil)
    #expect(try line.call("instance.currentUser", ["instance": "a"])["authenticationType"] == "unauthenticated")
    #expect(try line.call("storage.get", ["instance": "a", "key": "draft"])["value"] == .null)
    #expect(try desk.events("a", on: line, "identityWiped").count == 1)
    try desk.crash()
    let next = try desk.connect()
    #expect(try next.call("instance.currentUser", ["instance": "a"])["authenticationType"] == "unauthenticated")
  }

  @Test(
    "The old identity is kept until the vendor has accepted the new one",
    arguments: exchanging.filter { $0.sdk != "zc" })
  func R12_theOldIdentityStandsUntilTheVendorHasAcceptedTheNewOne(sample: KindSample) throws {
    let (desk, line) = try open(sample)
    let token = try desk.signIn("a", sample, as: "alice", on: line)
    try line.call("storage.put", ["instance": "a", "key": "draft", "value": "alice's"])
    try desk.vendor.script(["route": .string(sample.exchange ?? ""), "status": 503, "times": "forever"])
    let (method, params) = try sample.signIn(desk.vendor, "a", "bob")
    #expect(try line.failure(method, .object(params)).code == -32030)
    #expect(try line.call("token.get", ["instance": "a"])["tokenId"] == token["tokenId"])
    #expect(try line.call("storage.get", ["instance": "a", "key": "draft"])["value"] == "alice's")
    try desk.crash()
    #expect(try desk.connect().call("token.get", ["instance": "a"])["tokenId"] == token["tokenId"])
  }

  @Test("Reading a valid token sends no request to the vendor", arguments: KindSample.all)
  func R13_nobodyIsAskedForWhatNobodyNeeds(sample: KindSample) throws {
    let (desk, line) = try open(sample, settings: sample.sdk == "zm" ? ["realtime": "off"] : [:])
    _ = try desk.signIn("a", sample, as: "alice", on: line)
    let requests = try desk.vendor.log().count { $0["method"] != "WS" }
    for _ in 0..<100 { _ = try line.call("token.get", ["instance": "a", "http": true]) }
    _ = try line.call("instance.get", ["instance": "a"])
    usleep(1_500_000)
    #expect(try desk.vendor.log().count { $0["method"] != "WS" } == requests)
  }

  private static func contains(_ secret: String, _ folder: URL) throws -> Bool {
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return files.contains { (try? Data(contentsOf: $0))?.range(of: Data(secret.utf8)) != nil }
  }
}
